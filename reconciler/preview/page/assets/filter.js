
// What is looked for. A change is shown if all that is asked is true of it.
const asked = {text: '', cluster: '', namespace: '', verbs: new Set()};
let clustersAsked = null; // numbers; null for all

function ask() {
  asked.text = byId('search').value.trim().toLowerCase();
  asked.cluster = byId('cluster').value.trim().toLowerCase();
  asked.namespace = byId('namespace').value;
  asked.verbs = new Set([...byId('verbs').querySelectorAll('input:checked')].map((box) => box.value));
  clustersAsked = null;
  if (asked.cluster) {
    const exact = data.clusters.findIndex((c) => c.name.toLowerCase() === asked.cluster);
    clustersAsked = exact >= 0 ? [exact] : data.clusters.flatMap((c, i) => (c.name.toLowerCase().includes(asked.cluster) ? [i] : []));
  }
}

// textOf is where a search looks.
const texts = new Map(), diffTexts = [];
function textOf(change) {
  let text = texts.get(change);
  if (text === undefined) {
    const all = change.objects.map(objectOf);
    for (const cause of change.causes || []) all.push(...cause);
    for (const part of change.parts) {
      if (part.reason) all.push(part.reason);
      if (part.diff !== undefined) all.push(diffText(part.diff));
    }
    texts.set(change, text = all.join('\n').toLowerCase());
  }
  return text;
}

function diffText(n) {
  return diffTexts[n] ||= data.diffs[n].fields.map((f) => [f.path, f.from, f.to, f.lines].join('\n')).join('\n');
}

function isAsked(change) {
  if (asked.verbs.size && !asked.verbs.has(change.verb)) return false;
  if (asked.namespace && !change.objects.some((o) => String(o.n) === asked.namespace)) return false;
  if (clustersAsked) {
    const parts = partsOf(change);
    if (!clustersAsked.some((c) => parts[c])) return false;
  }
  return !asked.text || textOf(change).includes(asked.text);
}

// offer fills the fields of the filter with what there is.
function offer() {
  byId('cluster-names').append(...data.clusters.map((c) => el('option', {value: c.name})));
  const namespaces = data.namespaces.map((name, i) => [name || '(cluster-scoped)', i]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  byId('namespace').append(el('option', {value: ''}, 'all'), ...namespaces.map(([name, i]) => el('option', {value: i}, name)));
  const counts = {};
  for (const change of data.changes) counts[change.verb] = (counts[change.verb] || 0) + change.objects.length;
  for (const verb of verbs.filter((v) => counts[v])) {
    byId('verbs').append(el('label', {class: 'check'}, el('input', {type: 'checkbox', value: verb}), ' ', badge(verb), ' ' + verb + ' ', el('span', {class: 'muted'}, number(counts[verb]))));
  }
}

const badge = (verb) => el('span', {class: 'badge ' + verb, 'aria-hidden': 'true'}, letters[verb]);

const isFiltered = () => Boolean(asked.text || asked.cluster || asked.namespace || asked.verbs.size);
