
// The list of changes. Only so many are drawn, and of one that is closed only its line.
const step = 50;
let found = data.changes; // those that are asked for
let drawn = 0;
const isOpen = new Set(); // ids

// whereOf says in how many clusters a change is what.
function whereOf(change) {
  const words = {
    appears: 'to', arrives: 'to', disappears: 'from', leaves: 'from', stays: 'stays in', changes: 'the same change in', held: 'held in', frozen: 'frozen in',
  };
  const most = 4;
  const all = change.parts.map((part) => {
    const n = count(clustersIn(part.set).length, 'cluster');
    if (part.is === 'scales') return part.scale.join(' \u2192 ') + ' in ' + n;
    if (part.is === 'changes' && part.diff === undefined) return 'other changes in ' + n;
    return words[part.is] + ' ' + n;
  });
  if (all.length > most) all.splice(most, all.length, 'and ' + number(all.length - most) + ' more');
  if (change.replicas && change.replicas[0] !== change.replicas[1]) all.push('replicas ' + span(change.replicas));
  return all.join(', ');
}

function entryOf(change) {
  const entry = el('details', {id: change.id, open: isOpen.has(change.id)},
    el('summary', {},
      el('h3', {}, badge(change.verb), ' ', el('code', {}, titleOf(change)), moreOf(change) + ' ' + change.does),
      el('span', {class: 'where'}, whereOf(change))));
  entry.addEventListener('toggle', () => {
    isOpen[entry.open ? 'add' : 'delete'](change.id);
    if (!entry.open) return;
    fill(entry, change);
    if (entry.contains(document.activeElement)) history.replaceState(null, '', '#' + change.id);
  });
  return entry;
}

// fill draws what is in an entry, when it is opened first.
function fill(entry, change) {
  if (entry.childElementCount > 1) return;
  const body = el('div', {class: 'body'});
  for (const [message, place] of change.causes || []) {
    body.append(el('p', {}, 'Because: ', el('code', {}, message), ...(place ? [' at ', el('code', {}, place)] : [])));
  }
  if (change.objects.length > 1) body.append(el('div', {class: 'part'}, el('h4', {}, count(change.objects.length, 'object')), ' ', names(change.objects.map(objectOf), 30)));
  if (change.replicas) body.append(el('p', {}, 'Replicas' + (change.objects.length > 1 ? ' of each' : '') + ', where it changes: ' + span(change.replicas)));
  pieces(body, change.parts, 20, partOf, 'difference');
  body.append(el('p', {}, el('a', {href: '#' + change.id}, 'Link to this change')));
  entry.append(body);
}

function partOf(part) {
  const clusters = clustersIn(part.set).map((c) => data.clusters[c].name);
  const words = {
    appears: 'Appears in', arrives: 'Moves to', disappears: 'Disappears from', leaves: 'Moves away from', changes: 'Changes in',
    stays: 'Stays in, though no longer registered,', held: 'Held in', frozen: 'Frozen in',
  };
  const what = part.is === 'scales' ? part.scale.join(' \u2192 ') + ' replicas in' : words[part.is];
  const all = el('div', {class: 'part'}, el('h4', {}, el('span', {class: 'badge ' + part.is, 'aria-hidden': 'true'}, letters[part.is]), ' ' + what + ' ' + count(clusters.length, 'cluster')), ' ', names(clusters, 20));
  if (part.reason) all.append(el('p', {}, part.reason + (part.kept ? ': it stays as it is' : ': it is not there yet')));
  if (part.is === 'changes') {
    all.append(...(part.diff === undefined
      ? [el('p', {class: 'muted'}, 'There is no room for these differences here; waybill diff --cluster NAME shows those of one cluster.')]
      : fieldsOf(data.diffs[part.diff])));
  }
  return all;
}

// names lists the first names, and the others when they are asked for.
function names(all, most) {
  const list = el('p', {class: 'names'}, el('code', {}, all.slice(0, most).join(', ')));
  if (all.length > most) {
    list.append(' ', button('and ' + number(all.length - most) + ' more', (b) => {
      list.firstChild.textContent = all.join(', ');
      b.remove();
      list.tabIndex = -1;
      list.focus();
    }, 'link'));
  }
  return list;
}

// pieces draws the first of a list, and more when they are asked for.
function pieces(into, all, most, draw, noun) {
  into.append(...all.slice(0, most).map(draw));
  const rest = all.slice(most);
  if (rest.length) {
    into.append(button('Show ' + count(Math.min(rest.length, 100), 'more ' + noun), (b) => {
      const here = el('div', {tabindex: -1});
      b.replaceWith(here);
      pieces(here, rest, 100, draw, noun);
      here.focus();
    }));
  }
}

function button(text, act, className) {
  const b = el('button', {type: 'button', class: className}, text);
  b.addEventListener('click', () => act(b));
  return b;
}

// list draws the first changes that are found, and as many more as are asked for.
function list() {
  byId('list').replaceChildren();
  drawn = 0;
  further(step);
}

function further(upTo) {
  const next = found.slice(drawn, upTo);
  byId('list').append(...next.map(entryOf));
  drawn += next.length;
  const rest = found.length - drawn;
  byId('more').replaceChildren(...(rest > 0 ? [button('Show ' + number(Math.min(step, rest)) + ' of ' + count(rest, 'more change'), () => {
    const at = drawn;
    further(drawn + step);
    byId('list').children[at].firstChild.focus();
  })] : []));
}

// show opens a change, wherever it is.
function show(id) {
  const n = data.changes.findIndex((c) => c.id === id);
  if (n < 0) return;
  if (!found.includes(data.changes[n])) {
    clear();
  }
  const at = found.indexOf(data.changes[n]);
  if (at >= drawn) further(at + 1);
  const entry = byId('list').children[at];
  fill(entry, data.changes[n]);
  entry.open = true;
  entry.scrollIntoView({block: 'start'});
  entry.firstChild.focus({preventScroll: true});
}

// goTo opens a change, and has the address name it. A browser that goes to an anchor itself takes the focus away, some time later.
function goTo(id) {
  history.pushState(null, '', '#' + id);
  show(id);
}
