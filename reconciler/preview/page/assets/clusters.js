
// The table of clusters in which anything changes.
function clusterRow(c) {
  const cell = (text) => el('td', {class: 'n'}, text);
  return el('tr', {}, el('th', {scope: 'row'}, c.name), ...(byId('region') ? [el('td', {}, data.regions[c.region])] : []), cell(number(c.added || 0)), cell(number(c.changed || 0)), cell(number(c.removed || 0)),
    cell(number(c.left || 0)), cell(span(c.objects)), cell(span(c.replicas)), el('td', {class: 'wordy'}, c.note || ''));
}

function startClusters() {
  const most = 10, all = data.clusters.filter((c) => c.listed);
  const rows = byId('cluster-rows');
  rows.append(...all.slice(0, most).map(clusterRow));
  if (all.length > most) {
    byId('cluster-more').append(button('Show all ' + count(all.length, 'cluster'), (b) => {
      rows.append(...all.slice(most).map(clusterRow));
      b.remove();
      rows.closest('.wide').focus();
    }));
  }
  byId('clusters').hidden = !all.length;
}
