
// fieldsOf draws in which fields manifests differ.
function fieldsOf(diff) {
  const all = diff.fields.map((f) => el('div', {class: 'field'}, el('code', {}, f.path), ...valuesOf(f)));
  if (diff.routine) all.push(el('p', {class: 'muted'}, 'and ' + (diff.routine === 1 ? '1 label or checksum that follows' : number(diff.routine) + ' labels or checksums that follow')));
  return all;
}

function valuesOf(f) {
  if (f.hidden) return [el('p', {class: 'muted'}, 'Values of a Secret are not shown.')];
  if (f.lines) return [el('div', {}, ...f.lines.replace(/\n$/, '').split('\n').map(lineOf))];
  const brief = 100;
  if (f.op === 'replace' && !/\n/.test(f.from + f.to) && f.path.length + f.from.length + f.to.length < brief) {
    return [' ', el('span', {}, el('del', {}, '\u2212 ' + f.from), ' ', el('ins', {}, '+ ' + f.to))];
  }
  const all = [];
  if (f.op === 'reorder') all.push(el('p', {class: 'muted'}, 'in another order'));
  if (f.from !== undefined) all.push(el('del', {}, marked('\u2212 ', f.from)));
  if (f.to !== undefined) all.push(el('ins', {}, marked('+ ', f.to)));
  return all;
}

const marked = (mark, text) => text.split('\n').map((line) => mark + line).join('\n');

function lineOf(line) {
  switch (line[0]) {
    case '-': return el('del', {}, '\u2212 ' + line.slice(1));
    case '+': return el('ins', {}, '+ ' + line.slice(1));
    case '@': return el('div', {class: 'mono muted'}, line);
  }
  return el('div', {class: 'mono lines'}, '  ' + line.slice(1));
}
