
// The matrix: a row a change, a column a cluster. Only what is seen of it is drawn.
const rowHeight = 26;
const grid = {columns: [], width: 34, head: 0, active: [0, 0], drawn: ''};

const columnTitle = (clusters) => data.clusters[clusters[0]].name + (clusters.length > 1 ? ' +' + number(clusters.length - 1) : '');
const columnLabel = (clusters) => data.clusters[clusters[0]].name + (clusters.length > 1 ? ' and ' + count(clusters.length - 1, 'more cluster') : '');

// matrix lays the matrix out anew.
function matrix() {
  grid.columns = columnsOf(found, byId('alike').checked);
  let longest = 2;
  for (const change of found) for (const part of change.parts) longest = Math.max(longest, shows(part).length);
  grid.width = longest * 8 + 16;
  const longestName = Math.max(...grid.columns.map((clusters) => columnTitle(clusters).length), 4);
  grid.names = Math.min(132, longestName * 7.5 + 16);
  grid.active = [0, 0];
  byId('matrix-part').hidden = !grid.columns.length;
  byId('matrix').scrollTo(0, 0);
  fit();
}

// fit draws the matrix as wide as there is room for it.
function fit() {
  grid.head = Math.min(360, Math.max(168, byId('matrix').clientWidth * 0.42));
  grid.drawn = '';
  drawMatrix();
}

function drawMatrix() {
  if (!grid.columns.length) return;
  const box = byId('matrix');
  const [row, rows] = inView(box.scrollTop, box.clientHeight || 640, rowHeight, found.length);
  const [column, columns] = inView(box.scrollLeft, box.clientWidth - grid.head, grid.width, grid.columns.length);
  const key = [row, rows, column, columns].join();
  if (key === grid.drawn) return;
  grid.drawn = key;
  const focused = box.contains(document.activeElement);
  const shown = grid.columns.slice(column, column + columns);
  const before = column * grid.width, after = (grid.columns.length - column - shown.length) * grid.width;
  const table = el('table', {role: 'grid', 'aria-labelledby': 'matrix-title', 'aria-describedby': 'matrix-help', 'aria-rowcount': found.length + 1, 'aria-colcount': grid.columns.length + 1});
  table.style.width = grid.head + grid.columns.length * grid.width + 'px';
  table.append(
    el('thead', {}, el('tr', {'aria-rowindex': 1}, corner(), ...gap(before), ...shown.map((clusters, i) => headOf(clusters, column + i)), ...gap(after))),
    el('tbody', {}, ...rowGap(row), ...found.slice(row, row + rows).map((change, i) => rowOf(change, row + i, column, shown, gap(before), gap(after))), ...rowGap(found.length - row - rows)));
  box.replaceChildren(table);
  enterable(focused);
}

function sized(e, width) {
  e.style.width = width + 'px';
  return e;
}

function corner() {
  const th = sized(el('th', {scope: 'col', class: 'head', 'aria-colindex': 1}, 'Change'), grid.head);
  th.style.height = grid.names + 'px';
  return th;
}

const gap = (width) => (width > 0 ? [sized(el('td', {class: 'gap', 'aria-hidden': 'true'}), width)] : []);

function rowGap(rows) {
  if (rows <= 0) return [];
  const tr = el('tr', {'aria-hidden': 'true'}, el('td', {class: 'gap'}));
  tr.style.height = rows * rowHeight + 'px';
  return [tr];
}

function headOf(clusters, i) {
  const label = columnLabel(clusters);
  return sized(el('th', {scope: 'col', title: label, 'aria-label': label, 'aria-colindex': i + 2}, el('span', {}, columnTitle(clusters))), grid.width);
}

function rowOf(change, r, column, shown, before, after) {
  const parts = partsOf(change), title = titleOf(change) + moreOf(change);
  const cells = shown.map((clusters, i) => {
    const place = {'aria-colindex': column + i + 2, 'data-r': r, 'data-c': column + i, tabindex: -1, role: 'gridcell'};
    const n = parts[clusters[0]];
    if (!n) return el('td', place);
    const part = change.parts[n - 1], label = says(part), sign = shows(part); // a name has what is seen, so that it can be spoken
    return el('td', {...place, class: 'cell ' + part.is, title: title + ' ' + label + ' in ' + columnLabel(clusters), 'aria-label': sign + ': ' + label}, sign);
  });
  return el('tr', {'aria-rowindex': r + 2}, el('th', {scope: 'row', class: 'head', title, 'aria-label': title, 'aria-colindex': 1}, ...shortOf(change)), ...before, ...cells, ...after);
}

// shortOf names the objects of a row so that the end, which may not be seen, matters least.
function shortOf(change) {
  const o = change.objects[0], namespace = data.namespaces[o.n], more = change.objects.length - 1;
  return [(namespace ? namespace + '/' : '') + o.m + (more ? ' +' + number(more) : '') + ' ', el('span', {class: 'muted'}, data.kinds[o.k])];
}

const cellAt = (r, c) => byId('matrix').querySelector('td[data-r="' + r + '"][data-c="' + c + '"]');

// enterable lets the Tab key reach one cell: the one where the arrow keys were last, or the first.
function enterable(focused) {
  const box = byId('matrix'), active = cellAt(...grid.active);
  (active || box.querySelector('td[data-r]')).tabIndex = 0;
  if (!focused) return;
  if (active) {
    active.focus({preventScroll: true});
  } else {
    box.tabIndex = -1;
    box.focus({preventScroll: true});
  }
}

// move goes to another cell.
function move(r, c) {
  grid.active = [Math.max(0, Math.min(found.length - 1, r)), Math.max(0, Math.min(grid.columns.length - 1, c))];
  const box = byId('matrix'), top = grid.active[0] * rowHeight, left = grid.active[1] * grid.width;
  const height = box.clientHeight - box.querySelector('thead').offsetHeight - rowHeight, width = box.clientWidth - grid.head - grid.width;
  box.scrollTop = Math.min(Math.max(box.scrollTop, top - height), top);
  box.scrollLeft = Math.min(Math.max(box.scrollLeft, left - width), left);
  box.querySelectorAll('td[tabindex="0"]').forEach((cell) => { cell.tabIndex = -1; });
  drawMatrix();
  enterable(true);
}

function onKey(event) {
  const [r, c] = grid.active, page = 10;
  const to = {
    ArrowUp: [r - 1, c], ArrowDown: [r + 1, c], ArrowLeft: [r, c - 1], ArrowRight: [r, c + 1], PageUp: [r - page, c], PageDown: [r + page, c],
    Home: [event.ctrlKey ? 0 : r, 0], End: [event.ctrlKey ? found.length - 1 : r, grid.columns.length - 1],
  }[event.key];
  if (to) {
    event.preventDefault();
    move(...to);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    goTo(found[r].id);
  }
}

function startMatrix() {
  const box = byId('matrix');
  byId('legend').append(...['appears', 'disappears', 'arrives', 'leaves', 'scales', 'changes', 'held', 'frozen', 'stays'].map((is) => {
    const what = {arrives: 'moves here', leaves: 'moves away', scales: 'scales'}[is] || is;
    return el('span', {}, el('span', {class: 'badge ' + is}, is === 'scales' ? '3\u21925' : letters[is]), ' ' + what);
  }));
  let waiting = false;
  box.addEventListener('scroll', () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; drawMatrix(); });
  });
  box.addEventListener('keydown', onKey);
  box.addEventListener('focusin', (event) => {
    const cell = event.target.closest('td[data-r]');
    if (cell) grid.active = [Number(cell.dataset.r), Number(cell.dataset.c)];
  });
  box.addEventListener('click', (event) => {
    const cell = event.target.closest('td.cell');
    if (cell) goTo(found[cell.dataset.r].id);
  });
  byId('alike').addEventListener('change', matrix);
  addEventListener('resize', fit);
}
