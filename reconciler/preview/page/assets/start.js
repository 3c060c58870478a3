
// refresh draws what is asked for.
function refresh() {
  ask();
  found = data.changes.filter(isAsked);
  byId('found').textContent = (isFiltered() ? number(found.length) + ' of ' : '') + count(data.changes.length, 'change');
  list();
  matrix();
}

// clear asks for everything.
function clear() {
  byId('filter').reset();
  refresh();
}

function start() {
  if (!data.changes.length) return;
  if (data.changes.length <= 3) data.changes.forEach((change) => isOpen.add(change.id));
  byId('filter').hidden = false;
  offer();
  startClusters();
  startMatrix();
  refresh();
  const form = byId('filter');
  let waiting = 0;
  form.addEventListener('input', () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(refresh);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  byId('clear').addEventListener('click', clear);
  const go = () => show(location.hash.slice(1));
  // a browser that goes to the anchor itself takes the focus away with it, and does so by the next frame
  addEventListener('hashchange', () => {
    go();
    requestAnimationFrame(() => requestAnimationFrame(go));
  });
  addEventListener('load', () => setTimeout(go));
}

if (byId('filter')) start();
document.documentElement.dataset.ready = performance.now();
