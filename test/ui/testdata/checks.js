// What anybody needs to use a page, as a list of what is not so. It is what axe and its like look for.
(() => {
  const wrong = [];
  const say = (e, what) => wrong.push(what + ': ' + e.outerHTML.slice(0, 160));
  const isSeen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility === 'visible';
  const all = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);

  // names of controls
  const nameOf = (e) => (e.getAttribute('aria-label')
    || (e.getAttribute('aria-labelledby') || '').split(/\s+/).filter(Boolean).map((id) => document.getElementById(id)?.textContent ?? '').join(' ')
    || (e.labels && [...e.labels].map((l) => [...l.childNodes].filter((n) => n !== e).map((n) => n.textContent).join('')).join(' '))
    || e.textContent).trim();
  all('a, button, input, select, textarea, summary, form, [role=region], [role=grid], section').forEach((e) => { if (!nameOf(e)) say(e, 'has no name'); });

  // headings and landmarks
  let level = 0;
  all('h1, h2, h3, h4, h5, h6').forEach((h) => {
    const n = Number(h.tagName[1]);
    if (n > level + 1) say(h, 'a heading leaves out a level after h' + level);
    level = n;
    if (!h.textContent.trim()) say(h, 'an empty heading');
  });
  if (all('h1').length !== 1) wrong.push('there are ' + all('h1').length + ' h1');
  if (all('main').length !== 1) wrong.push('there is no one main');
  if (!document.documentElement.lang) wrong.push('the page has no language');
  if (!document.title) wrong.push('the page has no title');

  // ids, and what refers to them
  const ids = new Set();
  document.querySelectorAll('[id]').forEach((e) => { if (ids.has(e.id)) say(e, 'an id twice'); ids.add(e.id); });
  ['aria-labelledby', 'aria-describedby', 'for', 'list'].forEach((a) => document.querySelectorAll('[' + a + ']').forEach((e) => {
    e.getAttribute(a).split(/\s+/).forEach((id) => { if (!ids.has(id)) say(e, a + ' names nothing'); });
  }));

  // tables
  all('th').forEach((th) => { if (!['col', 'row'].includes(th.getAttribute('scope'))) say(th, 'a header without scope'); });
  all('table').forEach((table) => { if (!table.querySelector('th')) say(table, 'a table without headers'); });

  // what scrolls can be reached by the keyboard
  all('*').forEach((e) => {
    const s = getComputedStyle(e);
    const scrolls = (/auto|scroll/.test(s.overflowX) && e.scrollWidth > e.clientWidth + 1) || (/auto|scroll/.test(s.overflowY) && e.scrollHeight > e.clientHeight + 1);
    if (scrolls && e !== document.documentElement && e !== document.body && e.tabIndex < 0 && !e.querySelector('[tabindex="0"], a[href], button')) say(e, 'scrolls, and no key reaches it');
  });

  // the page itself does not scroll sideways
  if (document.documentElement.scrollWidth > innerWidth + 1) {
    wrong.push('the page is ' + document.documentElement.scrollWidth + ' wide on a screen of ' + innerWidth);
  }

  // contrast
  const canvas = Object.assign(document.createElement('canvas'), {width: 1, height: 1}).getContext('2d', {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
  const behind = (e) => {
    const layers = [];
    for (; e; e = e.parentElement) {
      layers.push(rgba(getComputedStyle(e).backgroundColor));
      if (layers.at(-1)[3] === 1) break;
    }
    return layers.reduceRight((under, layer) => over(layer, under), matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0, 1] : [255, 255, 255, 1]);
  };
  const light = ([r, g, b]) => {
    const f = (v) => ((v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
  };
  const told = new Set();
  all('body *').forEach((e) => {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) return;
    const s = getComputedStyle(e), under = behind(e), text = over(rgba(s.color), under);
    const [a, b] = [light(text), light(under)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05), large = parseFloat(s.fontSize) >= 24 || (parseFloat(s.fontSize) >= 18.66 && s.fontWeight >= 700);
    const key = e.tagName + e.className + ratio;
    if (ratio < (large ? 3 : 4.5) && !told.has(key)) {
      told.add(key);
      say(e, 'contrast ' + ratio.toFixed(2) + ' of ' + s.color + ' on ' + under.map(Math.round));
    }
  });
  return wrong;
})()
