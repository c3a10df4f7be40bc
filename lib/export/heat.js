(function () {
'use strict';
// A grid: its cells by place, and the rectangle that is picked.
function heat(g) {
  const d = g.dataset, svg = g.ownerSVGElement;
  const columns = +d.columns, rows = +d.rows, x = +d.x, y = +d.y, w = +d.w, h = +d.h;
  const begin = BigInt(d.begin), width = BigInt(d.column);
  const pick = g.querySelector('.pick'), said = g.querySelector('.said'), words = g.querySelector('.words');
  const cells = new Map(), from = [], to = [];
  let area = null, anchor = null;
  g.querySelectorAll('rect[data-c]').forEach(function (r) {
    cells.set(r.dataset.c + ' ' + r.dataset.r, { n: +r.dataset.n, e: begin + BigInt(r.dataset.e) });
  });
  g.querySelectorAll('.from').forEach(function (t) {
    from[+t.dataset.r] = t.textContent;
    to[+t.dataset.r] = t.dataset.to;
  });
  function moment(ns) {
    if (d.ticks === '1') return String(ns);
    return ns / 1000000000n + '.' + String(ns % 1000000000n).padStart(9, '0');
  }
  function place(event) {
    const p = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const c = Math.floor((p.x - x) / w), r = rows - 1 - Math.floor((p.y - y) / h);
    return { c: Math.min(Math.max(c, 0), columns - 1), r: Math.min(Math.max(r, 0), rows - 1),
             inside: c >= 0 && c < columns && r >= 0 && r < rows };
  }
  function show(a, b) {
    const c0 = Math.min(a.c, b.c), c1 = Math.max(a.c, b.c), r0 = Math.min(a.r, b.r), r1 = Math.max(a.r, b.r);
    let n = 0, end = begin + width * BigInt(c1 + 1) - 1n;
    for (let c = c0; c <= c1; c++)
      for (let r = r0; r <= r1; r++) {
        const cell = cells.get(c + ' ' + r);
        if (!cell) continue;
        n += cell.n;
        if (cell.e > end) end = cell.e;
      }
    area = { a: a, b: b };
    pick.classList.remove('gone');
    pick.setAttribute('x', x + c0 * w);
    pick.setAttribute('y', y + (rows - 1 - r1) * h);
    pick.setAttribute('width', (c1 - c0 + 1) * w);
    pick.setAttribute('height', (r1 - r0 + 1) * h);
    said.textContent = n + (n === 1 ? ' call' : ' calls') + ', ' + from[r0] + ' to ' + to[r1] + ':';
    words.textContent = '--from=' + moment(begin + width * BigInt(c0)) + ' --to=' + moment(end);
    words.setAttribute('x', x + (said.textContent.length + 1) * 7.3);
    d.picked = n;
  }
  function copy() {
    const text = words.textContent, selection = window.getSelection();
    if (!text) return;
    selection.selectAllChildren(words);
    try { document.execCommand('copy'); } catch (e) { /* it is selected all the same */ }
    if (navigator.clipboard) navigator.clipboard.writeText(text).catch(function () {});
    d.copied = text;
    svg.dispatchEvent(new CustomEvent('window', { bubbles: true, detail: window_of() }));
  }
  // Which calls are meant, for whoever has a list of them.
  function window_of() {
    const c = [area.a.c, area.b.c].sort(function (m, n) { return m - n; });
    const r = [area.a.r, area.b.r].sort(function (m, n) { return m - n; }).map(function (k) { return k + +d.first; });
    return { name: d.name, from: begin + width * BigInt(c[0]), to: begin + width * BigInt(c[1] + 1),
             least: r[0] === 0 ? 0 : Math.pow(2, r[0] - 1), most: Math.pow(2, r[1]) };
  }
  g.addEventListener('pointerdown', function (event) {
    const p = place(event);
    if (!p.inside || event.button !== 0) return;
    anchor = p;
    show(p, p);
    g.setPointerCapture(event.pointerId);
    g.focus({ preventScroll: true });
    event.preventDefault();
  });
  g.addEventListener('pointermove', function (event) {
    if (anchor) show(anchor, place(event));
  });
  g.addEventListener('pointerup', function () {
    if (anchor) copy();
    anchor = null;
  });
  g.addEventListener('keydown', function (event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const move = moves[event.key];
    if (event.key === 'Enter') copy();
    else if (move && !area) show({ c: 0, r: rows - 1 }, { c: 0, r: rows - 1 });
    else if (move) {
      const b = { c: Math.min(Math.max(area.b.c + move[0], 0), columns - 1),
                  r: Math.min(Math.max(area.b.r + move[1], 0), rows - 1) };
      show(event.shiftKey ? area.a : b, b);
    } else return;
    event.preventDefault();
  });
}
document.querySelectorAll('.heat-grid').forEach(heat);
}());
