'use strict';

// What the page is about, and what is worked out of it when it is looked at.
const data = JSON.parse(document.getElementById('data').textContent);

const letters = data.letters;
const verbs = ['disappears', 'held', 'frozen', 'stays', 'moves', 'scales', 'changes', 'appears'];

const byId = (id) => document.getElementById(id);

// el makes an element. Children that are texts become nodes of text, whatever is in them.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== undefined && value !== null && value !== false) e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children);
  return e;
}

const number = String;
const count = (n, noun) => number(n) + ' ' + noun + (n === 1 ? '' : 's');
const span = ([before, after]) => (before === after ? number(before) : number(before) + ' \u2192 ' + number(after));

// clustersIn are the numbers of the clusters of a set.
const setsRead = [];
function clustersIn(n) {
  if (setsRead[n]) return setsRead[n];
  const text = data.sets[n], all = [];
  if (text[0] === '*') {
    const bits = atob(text.slice(1));
    for (let i = 0; i < bits.length * 8; i++) if (bits.charCodeAt(i >> 3) >> (i & 7) & 1) all.push(i);
  } else {
    for (const range of text.split(',')) {
      const [from, to] = range.split('-').map(Number);
      for (let i = from; i <= (to === undefined ? from : to); i++) all.push(i);
    }
  }
  return setsRead[n] = all;
}

// partsOf says for each cluster which part of a change it is in, plus one; 0 for none.
const partsRead = new Map();
function partsOf(change) {
  let in_ = partsRead.get(change);
  if (in_) return in_;
  in_ = new Uint16Array(data.clusters.length);
  change.parts.forEach((part, i) => {
    const stuck = part.is === 'held' || part.is === 'frozen';
    for (const c of clustersIn(part.set)) if (stuck || !in_[c]) in_[c] = i + 1;
  });
  partsRead.set(change, in_);
  return in_;
}

// objectOf names an object as the command line does.
function objectOf(o) {
  const namespace = data.namespaces[o.n];
  return data.kinds[o.k] + (namespace ? '/' + namespace : '') + '/' + o.m;
}

const titleOf = (change) => objectOf(change.objects[0]);
const moreOf = (change) => (change.objects.length > 1 ? ' and ' + number(change.objects.length - 1) + ' more' : '');

// says is what happens to a change in a part of its clusters.
function says(part) {
  switch (part.is) {
    case 'arrives': return 'moves here';
    case 'leaves': return 'moves away';
    case 'scales': return 'scales from ' + part.scale.join(' to ') + ' replicas';
    case 'held': case 'frozen': return part.is + ': ' + part.reason + (part.kept ? '' : '; it is not there yet');
    case 'stays': return 'stays; the cluster is no longer registered';
  }
  return part.is;
}

const shows = (part) => (part.is === 'scales' ? part.scale.join('\u2192') : letters[part.is]);
