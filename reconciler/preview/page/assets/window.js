
// inView says which of many equal pieces are seen: from which, and how many.
function inView(offset, size, each, all) {
  const spare = 4;
  const first = Math.max(0, Math.min(all - 1, Math.floor(offset / each) - spare));
  return [first, Math.min(all - first, Math.ceil(size / each) + 2 * spare)];
}

// columnsOf puts clusters that change alike in what is found into one column, if that is asked for.
// Clusters in which nothing is found have none.
function columnsOf(changes, alike) {
  const n = data.clusters.length, one = new Int32Array(n), two = new Int32Array(n), any = new Uint8Array(n);
  changes.forEach((change, i) => {
    const parts = partsOf(change);
    for (let c = 0; c < n; c++) {
      if (!parts[c]) continue;
      const what = i * 65537 + parts[c];
      any[c] = 1;
      one[c] = Math.imul(one[c] ^ what, 0x01000193);
      two[c] = Math.imul(two[c] + what, 0x5bd1e995) ^ (two[c] >>> 15);
    }
  });
  const columns = [], at = new Map();
  for (const c of clustersAsked || data.clusters.keys()) {
    if (!any[c]) continue;
    const key = alike ? one[c] + ' ' + two[c] : c;
    const column = at.get(key);
    if (column) {
      column.push(c);
    } else {
      const fresh = [c];
      at.set(key, fresh);
      columns.push(fresh);
    }
  }
  return columns;
}
