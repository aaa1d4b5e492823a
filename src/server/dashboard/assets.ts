/**
 * The script of the dashboard. Pages are complete without it. After an event it reloads the current page in the
 * background and updates the differences: unchanged elements keep their focus, scroll position, typed text and open
 * state. Plain JavaScript for browsers; the URL of the stream is `live`, next to the assets folder.
 */
export const liveScript = `'use strict';
(() => {
  const streamUrl = new URL('../live', document.currentScript.src);
  const main = document.querySelector('main');
  const status = document.createElement('p');
  status.id = 'live';
  status.className = 'muted';
  status.setAttribute('role', 'status');
  main.after(status);
  let source, timer, isLoading = false, isStale = false;

  const keyOf = (node) => {
    if (node.nodeType !== Node.ELEMENT_NODE) return undefined;
    if (node.id) return node.id;
    return node.nodeName === 'TR' ? node.querySelector('a[href]')?.getAttribute('href') : undefined;
  };
  const nameOf = (node) => node.nodeName + ' ' + (keyOf(node) ?? '');

  /** Pairs each new child with an old one of the same name and key, in order. */
  const pair = (before, after) => {
    const left = Map.groupBy(before, nameOf);
    return after.map((node) => left.get(nameOf(node))?.shift());
  };

  /**
   * Updates a node to match a new one. Returns whether readers notice the change; relative times alone do not count.
   */
  const change = (old, fresh) => {
    if (old.isEqualNode(fresh)) return false;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.data = fresh.data;
      return !old.parentElement.closest('time');
    }
    let isNews = false;
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== 'open') old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (name !== 'open' && old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
    const before = [...old.childNodes];
    const after = [...fresh.childNodes];
    const pairs = pair(before, after);
    const kept = new Set(pairs);
    for (const node of before) {
      if (kept.has(node)) continue;
      isNews = true;
      node.remove();
    }
    let place = old.firstChild;
    after.forEach((node, index) => {
      const known = pairs[index];
      if (known === undefined) {
        isNews = true;
        old.insertBefore(document.importNode(node, true), place);
        return;
      }
      if (known === place) place = place.nextSibling;
      else old.insertBefore(known, place);
      if (change(known, node)) isNews = true;
    });
    return isNews;
  };

  const show = (text) => {
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
    if (!fresh) return;
    const held = document.activeElement;
    if (!change(main, fresh)) return;
    if (held && held !== document.body && !held.isConnected) {
      main.tabIndex = -1;
      main.focus({ preventScroll: true });
    }
    status.textContent = 'Updated at ' + new Date().toLocaleTimeString() + '.';
  };

  const close = () => {
    clearTimeout(timer);
    timer = undefined;
    source?.close();
    source = undefined;
  };

  const load = async () => {
    timer = undefined;
    isLoading = true;
    isStale = false;
    const startedAt = performance.now();
    try {
      const answer = await fetch(location.href, { cache: 'no-store', redirect: 'error' });
      if (answer.ok) show(await answer.text());
      else if (answer.status < 500) {
        close();
        status.textContent = 'This page is no longer updated. Load it again.';
      }
    } catch {
      // The next event, or reopening the stream, triggers another load.
    }
    isLoading = false;
    if (isStale && source) refresh(4 * (performance.now() - startedAt));
  };

  /** Schedules a load: many events share one load, and many windows do not load at the same instant. */
  const refresh = (waitMs = 0) => {
    if (isLoading) isStale = true;
    else timer ??= setTimeout(load, Math.max(waitMs, 300 + 700 * Math.random()));
  };

  /** Opens the stream. A session has only one stream, held by the window in use. */
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(streamUrl);
    // Changes between the load of the page and the start of the stream have no event.
    source.addEventListener('open', () => refresh());
    source.addEventListener('changed', () => refresh());
    source.addEventListener('replaced', close);
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : open()));
  addEventListener('focus', open);
  addEventListener('pagehide', close);
  addEventListener('pageshow', open);
})();
`;

/** Styles of the lists and pages of deliveries and rules. */
const deliveryAndRuleStyles = `
.rows{list-style:none;margin:.75rem 0;padding:0;background:var(--panel);border:1px solid var(--line);border-radius:.5rem}
.rows>li{position:relative;display:grid;grid-template-columns:6.5rem minmax(0,3fr) minmax(0,2fr) 6.5rem;gap:.25rem 1rem;align-items:start;padding:.625rem .875rem;border-bottom:1px solid var(--line)}
.rows>li>.mark{justify-self:start}.rows>li:last-child{border-bottom:0}.rows>li:first-child{border-radius:.5rem .5rem 0 0}.rows>li:hover{background:var(--soft)}.rows>li:hover .mark{box-shadow:0 0 0 1px var(--line)}
.row-link{font-weight:600;color:var(--text);text-decoration:none}.rows>li:hover .row-link{text-decoration:underline}
.row-link::after{content:"";position:absolute;inset:0}.row-link:focus-visible{outline:0}.row-link:focus-visible::after{outline:2px solid var(--link);outline-offset:-2px;border-radius:.375rem}
.row-main,.row-result{min-width:0}.row-result,.rows .muted,.row-time{font-size:var(--small);line-height:1.5rem;color:var(--muted)}.row-time{text-align:right}.rows time{position:relative}
form.filter label.check{display:flex;gap:.4rem;align-items:center;color:var(--text);min-height:2.1rem}
.pager{display:flex;flex-wrap:wrap;gap:.25rem 1rem;font-size:var(--small)}.pager a{padding:.25rem 0}.pager [rel=prev]::before{content:"← "}.pager [rel=next]::after{content:" →"}
.lead{color:var(--muted)}.lead .mark{margin-right:.25rem}
.empty{background:var(--panel);border:1px dashed var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0;max-width:52rem}
.result{font-weight:600;white-space:nowrap}.result.held{color:var(--ok)}.result.error{color:var(--bad)}.result.not,.result.unevaluated{color:var(--muted)}
summary h2,summary h3{display:inline;margin:0}.where{margin:.25rem 0}
.names{columns:18rem;list-style:none;padding:0}
.source{padding:.75rem 0;tab-size:2}.source .line{display:block;padding:0 .75rem;min-height:1.5em}.source .line.here{background:var(--wait-soft)}.source .n{display:inline-block;width:2.5em;margin-right:1em;text-align:right;color:var(--muted);user-select:none}
.source .n::before{content:attr(data-n)}
.hl-key{color:light-dark(#0b4fad,#8ab4f8)}.hl-comment{color:var(--muted);font-style:italic}.hl-string{color:light-dark(#0a5c1e,#86dfa0)}.hl-number,.hl-word{color:light-dark(#8a3b00,#f3b27a)}.hl-name{color:light-dark(#5b2a9c,#cbb2ff)}.hl-call{color:light-dark(#8c1d5c,#ff9fd0)}.hl-mark{color:var(--muted)}
@media (max-width:900px){.rows>li{grid-template-columns:6.5rem minmax(0,1fr) auto}.row-main{grid-column:2}.row-time{grid-column:3;grid-row:1}.row-result{grid-column:2/-1}}
@media (max-width:600px){.rows>li{grid-template-columns:minmax(0,1fr) auto}.rows>li>.mark{justify-self:start;grid-column:1;grid-row:1}.row-time{grid-column:2;grid-row:1}.row-main,.row-result{grid-column:1/-1}.row-result:empty{display:none}.source .n{width:2em;margin-right:.75em}}
`;

/**
 * The style sheet. Each colour has a meaning: green is done, red needs manual action, amber is waiting, blue is in
 * progress, grey is nothing to do.
 */
export const styleSheet = `:root{color-scheme:light dark;
--page:light-dark(#f6f7f9,#0f1216);--panel:light-dark(#fff,#171b21);--line:light-dark(#d5dae1,#2d343e);--soft:light-dark(#eef1f5,#20262e);
--text:light-dark(#1a1e24,#e6e9ee);--muted:light-dark(#545c68,#a3acb9);--link:light-dark(#0b4fad,#8ab4f8);--brand:light-dark(#1f6f4a,#6fd3a0);
--ok:light-dark(#0a5c1e,#86dfa0);--ok-soft:light-dark(#e0f3e5,#12301b);--bad:light-dark(#a40000,#ff9f9f);--bad-soft:light-dark(#fde6e6,#3b1414);
--wait:light-dark(#6b4700,#f3cd7a);--wait-soft:light-dark(#fdf0d2,#352708);--busy:light-dark(#0b4fad,#9cc2ff);--busy-soft:light-dark(#e2edfd,#10264a);
--small:.8125rem;--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
*{box-sizing:border-box}html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:.9375rem/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
a{color:var(--link);text-underline-offset:.15em}a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:.2rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.25rem;background:var(--panel);padding:.25rem .5rem;z-index:1}
header{background:var(--panel);border-bottom:1px solid var(--line)}
.bar,nav ul,main{max-width:84rem;margin:0 auto;padding:0 1.25rem}
.bar{display:flex;gap:.5rem 1rem;align-items:center;justify-content:space-between;padding-top:.75rem;padding-bottom:.25rem}
.brand{display:flex;gap:.5rem;align-items:center;font-size:1.125rem;font-weight:650;letter-spacing:-.01em;color:var(--text);text-decoration:none}
.brand svg{width:1.625rem;height:1.625rem;flex:none}.brand rect{fill:var(--brand)}.brand path{fill:none;stroke:var(--panel);stroke-width:2.4;stroke-linecap:round;stroke-linejoin:round}
.bar form{display:flex;gap:.75rem;align-items:center;color:var(--muted);font-size:var(--small);min-width:0}.bar form span{overflow-wrap:anywhere}
nav ul{display:flex;flex-wrap:wrap;list-style:none;gap:0 .25rem}
nav a{display:block;padding:.5rem .625rem;color:var(--muted);text-decoration:none;white-space:nowrap;border-bottom:2px solid transparent}
nav a:hover{color:var(--text);border-color:var(--line)}nav [aria-current]{color:var(--text);font-weight:600;border-color:var(--brand)}
nav.pages{background:var(--page);border-top:1px solid var(--line)}nav.pages a{padding:.375rem .625rem;font-size:var(--small)}
.find{display:flex;gap:.375rem;flex:1 1 12rem;max-width:26rem;margin:0 auto 0 1rem}.bar .find{gap:.375rem}.find input{flex:1;min-width:0;color:var(--text)}main .find{margin:.75rem 0}
#live{position:sticky;bottom:0;margin:0;padding:0 1.25rem;text-align:right;font-size:var(--small);background:var(--page)}
main{padding-top:1.25rem;padding-bottom:4rem;overflow-wrap:anywhere}
h1{font-size:1.5rem;line-height:1.25;letter-spacing:-.015em;margin:0 0 1rem}h2{font-size:1.125rem;line-height:1.3;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.5rem 0}ul{padding-left:1.25rem;margin:.5rem 0}.why,.muted{color:var(--muted)}
.wide{overflow-x:auto;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;margin:.75rem 0}
table{border-collapse:collapse;width:100%}
th{font-size:var(--small);font-weight:600;color:var(--muted);background:var(--soft);white-space:nowrap}
td,th{text-align:left;vertical-align:top;padding:.5rem .75rem;border-bottom:1px solid var(--line)}tbody tr:last-child td{border-bottom:0}tbody tr:hover{background:var(--soft)}
td{overflow-wrap:break-word}.outcome{min-width:17rem}a:has(>.mark){text-decoration:none}a:has(>.mark):hover .mark{text-decoration:underline}td.long{overflow-wrap:anywhere;min-width:16rem}td form{margin:.125rem 0}
time,.id,.whole{white-space:nowrap}time[title]{cursor:help}.id{font-family:var(--mono);font-size:.875em}
code,pre{font:.8125rem/1.5 var(--mono)}td code{white-space:pre-wrap}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.75rem;max-height:40rem;overflow:auto}
.mark{display:inline-block;border-radius:1rem;padding:0 .6rem;font-size:var(--small);line-height:1.5rem;font-weight:600;white-space:nowrap;background:var(--soft);color:var(--muted)}
tr:hover .mark{box-shadow:0 0 0 1px var(--line)}
.settled,.applied,.matched,.online{background:var(--ok-soft);color:var(--ok)}
.dead,.failed,.offline,.refused{background:var(--bad-soft);color:var(--bad)}
.accepted,.retry,.deferred,.observed{background:var(--wait-soft);color:var(--wait)}
.claimed,.planned{background:var(--busy-soft);color:var(--busy)}
section{margin:1.5rem 0}details{margin:.5rem 0}summary{cursor:pointer;overflow-wrap:anywhere;padding:.25rem 0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.5rem;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.75rem 0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
button,input,select{font:inherit;color:inherit;background:var(--panel);border:1px solid light-dark(#8a929e,#5b6573);border-radius:.375rem;padding:.3rem .7rem;max-width:100%}
button{cursor:pointer;font-weight:550;background:var(--soft)}button:hover{border-color:var(--text)}
form.filter{display:flex;flex-wrap:wrap;gap:.75rem;align-items:end;margin:.75rem 0}form.filter label{display:grid;gap:.2rem;font-size:var(--small);color:var(--muted)}form.filter input,form.filter select{color:var(--text)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.625rem;list-style:none;padding:0}.tiles a,.tiles li>div{display:block;padding:.625rem .875rem;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;text-decoration:none;color:var(--muted)}.tiles a:hover{border-color:var(--muted)}.tiles strong{display:block;font-size:1.5rem;line-height:1.2;font-weight:650;color:var(--text);font-variant-numeric:tabular-nums}
.actions{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:.75rem 0}
.tabs{display:flex;flex-wrap:wrap;gap:.375rem;list-style:none;padding:0}.tabs a{display:block;padding:.2rem .75rem;border:1px solid var(--line);border-radius:1rem;text-decoration:none;background:var(--panel)}.tabs [aria-current]{background:var(--text);border-color:var(--text);color:var(--page)}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,34rem),1fr));gap:1rem}
.chart{margin:0;min-width:0;background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem}.chart figcaption{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline;justify-content:space-between}.chart h2{margin:0}
.legend{display:flex;flex-wrap:wrap;gap:.125rem .875rem;list-style:none;padding:0;margin:0;font-size:var(--small);color:var(--muted)}.key{display:inline-block;width:1rem;margin-right:.35rem;vertical-align:.15em;border-top:.2rem solid}.key.bars{height:.625rem;vertical-align:-.05em;border-top-width:.625rem;border-radius:.125rem}.key.dashed{border-top-style:dashed}
.plot{display:grid;grid-template-columns:4.25rem minmax(0,1fr);grid-template-rows:10rem;gap:.5rem;margin-top:.75rem}.axis{display:flex;flex-direction:column;justify-content:space-between;text-align:right;font-size:var(--small);line-height:1;color:var(--muted);font-variant-numeric:tabular-nums;white-space:nowrap}
.plot svg{display:block;width:100%;height:10rem;overflow:visible;border-top:1px dotted var(--line);border-bottom:1px solid var(--muted)}.chart path{vector-effect:non-scaling-stroke;fill:none}.chart .grid{stroke:var(--line);stroke-dasharray:2 3}.chart .line{stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.chart .dashed{stroke-dasharray:5 4}.chart .bars{fill:currentColor}
.chart .ok{color:var(--ok);background:none}.chart .bad{color:var(--bad)}.chart .wait{color:light-dark(#b06f00,#f3cd7a)}.chart .busy{color:var(--busy)}.chart .plain{color:var(--muted)}.times{display:flex;justify-content:space-between;gap:.5rem;padding-left:4.75rem;margin-top:.35rem;font-size:var(--small);color:var(--muted)}.chart p{font-size:var(--small)}
/* Overview, menus and pages about one item. */
.head{display:flex;flex-wrap:wrap;gap:.5rem 1rem;align-items:start;justify-content:space-between;margin-bottom:1rem}.head h1{margin:0}.head .actions{margin:0}
.button{display:inline-block;background:var(--soft);color:var(--text);border:1px solid light-dark(#8a929e,#5b6573);border-radius:.375rem;padding:.3rem .7rem;font-weight:550;text-decoration:none;white-space:nowrap}.button:hover{border-color:var(--text)}
.menu{position:relative;margin:0}.menu summary{list-style:none}.menu summary::-webkit-details-marker{display:none}.menu summary::after{content:" ▾"}
.menu>div{position:absolute;right:0;z-index:2;width:min(22rem,calc(100vw - 1.75rem));background:var(--panel);border:1px solid var(--line);border-radius:.5rem;padding:.5rem 1rem 1rem;box-shadow:0 .5rem 1.5rem #0003}.menu form{display:grid;gap:.375rem;margin-top:.75rem}.menu label{display:grid;gap:.2rem;font-size:var(--small);color:var(--muted)}.menu input{color:var(--text)}
.empty{background:var(--panel);border:1px dashed light-dark(#a9b1bc,#4a5361);border-radius:.5rem;padding:1rem;color:var(--muted)}.empty strong{color:var(--text)}
.attention,.attention ul{list-style:none;margin:0;padding:0}.attention{display:grid;gap:.625rem}.attention>li{background:var(--panel);border:1px solid var(--line);border-left:.25rem solid var(--muted);border-radius:.5rem;padding:.625rem .875rem}.attention>.critical,.attention>.failed{border-left-color:var(--bad);color:inherit}.attention>.warning{border-left-color:light-dark(#b06f00,#f3cd7a)}.attention>.critical{background:var(--bad-soft)}
.attention .what,.attention ul li{display:flex;flex-wrap:wrap;gap:.375rem 1rem;align-items:start;justify-content:space-between}.attention .what>div:first-child,.attention ul li>div:first-child{flex:1 1 18rem;min-width:0}.attention .muted{font-size:var(--small)}.attention ul{margin-top:.5rem}.attention ul li{border-top:1px solid var(--line);padding:.5rem 0 .375rem}
.do{display:flex;flex-wrap:wrap;gap:.375rem;align-items:center}.do .button,.do button{font-size:var(--small);padding:.2rem .6rem}
.counts{display:flex;flex-wrap:wrap;gap:.375rem 1rem;list-style:none;padding:0}.counts a{color:var(--text);text-decoration:none;font-variant-numeric:tabular-nums}
.day{grid-template-columns:repeat(auto-fill,minmax(9.5rem,1fr))}.day a{height:100%;display:flex!important;flex-direction:column}.spark{display:block;width:100%;height:2rem;margin-top:auto;padding-top:.375rem}.spark path{fill:currentColor}.spark .ok{color:var(--ok);background:none}.spark .bad{color:var(--bad)}.spark .wait{color:light-dark(#b06f00,#f3cd7a)}.spark .busy{color:var(--busy)}.spark .plain{color:var(--muted)}
[role=alert]{background:var(--bad-soft);border-left:.25rem solid var(--bad);border-radius:.25rem;padding:.5rem .75rem}
@media (max-width:600px){
.bar,nav ul,main{padding-left:.875rem;padding-right:.875rem}nav ul{padding-left:.25rem;padding-right:.25rem}h1{font-size:1.25rem}
.bar{flex-wrap:wrap}.find{order:1;flex-basis:100%;max-width:none;margin:0 0 .25rem}
dl{grid-template-columns:minmax(0,1fr);gap:0}dd{margin:0 0 .5rem}
.wide{background:none;border:0;overflow:visible}table,tbody,tr,td{display:block}thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{background:var(--panel);border:1px solid var(--line);border-radius:.5rem;margin:0 0 .625rem;padding:.375rem .75rem}
td,td.long{border:0;padding:.2rem 0;display:grid;grid-template-columns:6.5rem minmax(0,1fr);gap:.5rem;min-width:0;overflow-wrap:anywhere}td.long,td.whole-line{grid-template-columns:minmax(0,1fr);gap:0}td:empty{display:none}.outcome{min-width:0}
td::before{content:attr(data-label);color:var(--muted);font-size:var(--small);line-height:1.5rem}}
${deliveryAndRuleStyles}`;
