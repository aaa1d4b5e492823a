/**
 * The one script of the dashboard. Pages are complete without it. After an event it loads the page of the window again, with the
 * rights of its viewer, and puts in place what differs: elements that stay keep their focus, scroll position, typed text and
 * whether they are open. Written for browsers as it is; `live` in the address of the stream stands beside the folder of assets.
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

  /** Changes a node into another one. Returns whether a reader notices: distances in time alone are no news. */
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
      // The next event, or the stream that opens again, leads here again.
    }
    isLoading = false;
    if (isStale && source) refresh(4 * (performance.now() - startedAt));
  };

  /** Loads soon: many events lead to one load, and many windows do not load at the same instant. */
  const refresh = (waitMs = 0) => {
    if (isLoading) isStale = true;
    else timer ??= setTimeout(load, Math.max(waitMs, 300 + 700 * Math.random()));
  };

  /** A session has one stream: the window that is looked at has it. */
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(streamUrl);
    // What changed between the page and the stream has no event.
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
