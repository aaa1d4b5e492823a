import { type Html, html } from '../../platform/http/html.ts';
import { nameOfRule } from '../../rules/verdict.ts';
import { type Delivery, foundEventKind, itemOfDelivery } from '../../store/store.ts';
import type { SimulatedKind } from '../../work/runs/simulate.ts';
import { markIds } from './page.ts';

/** Returns a link to a repository on the forge, or plain text if the name is invalid. */
export function repositoryLink(forgeUrl: string, name: string): Html {
  const path = pathOfRepository(name);
  return path === undefined ? markIds(name) : html`<a href="${forgeUrl}/${path}">${markIds(name)}</a>`;
}

/**
 * Returns a link to the subject of a delivery: a pull request or issue, otherwise the repository; undefined if there is
 * neither. With `root`, issues and pull requests lead to their pages of the dashboard, otherwise to the forge.
 */
export function subjectLink(
  forgeUrl: string,
  delivery: Pick<Delivery, 'repository' | 'lane' | 'eventType' | 'summary'>,
  root?: string,
): Html | undefined {
  const [repository, number] = itemOfDelivery(delivery)?.split('#') ?? [];
  if (repository === undefined) return undefined;
  if (number === undefined) return repositoryLink(forgeUrl, repository);
  const isPull = isAboutPull(delivery);
  return root === undefined
    ? issueLink(forgeUrl, repository, Number(number), isPull)
    : subjectPageLink(root, repository, Number(number), { isPull });
}

/** Returns whether the event of a delivery is one of pull requests. */
export function isAboutPull({ eventType, summary }: Pick<Delivery, 'eventType' | 'summary'>): boolean {
  const kind = eventType === foundEventKind ? (summary?.activity ?? '') : eventType;
  return kind.startsWith('pull_request');
}

/** Returns a link to an issue or pull request; a forge redirects `issues` to `pulls` for pull requests. */
export function issueLink(forgeUrl: string, repository: string, number: number, isPull = false): Html {
  const text = markIds(`${repository}#${number}`);
  const path = pathOfRepository(repository);
  if (path === undefined) return text;
  return html`<a href="${forgeUrl}/${path}/${isPull ? 'pulls' : 'issues'}/${number}">${text}</a>`;
}

/** Returns the path of the page about an issue or pull request; undefined if the name of the repository is invalid. */
export function subjectPath(repository: string, number: number, isPull = false): string | undefined {
  const path = pathOfRepository(repository);
  return path && `subjects/${path}/${isPull ? 'pulls' : 'issues'}/${number}`;
}

/** Returns a link to the page about an issue or pull request: `acme/shop#7`, or the given text. */
export function subjectPageLink(
  root: string,
  repository: string,
  number: number,
  {
    isPull = false,
    text = `${repository}#${number}`,
  }: { readonly isPull?: boolean; readonly text?: string } = {},
): Html {
  const path = subjectPath(repository, number, isPull);
  return path === undefined ? markIds(text) : html`<a href="${root}${path}">${markIds(text)}</a>`;
}

/**
 * Returns a link for a text that begins with the name of a repository or issue, such as an item of a sweep or a
 * subject. With `root`, issues and pull requests lead to their pages of the dashboard, otherwise to the forge.
 */
export function itemLink(forgeUrl: string, item: string, root?: string): Html {
  const [, repository, number] = /^([\w.-]+\/[\w.-]+)(?:#(\d{1,15}))?$/.exec(item) ?? [];
  if (repository === undefined) return markIds(item);
  if (number === undefined) return repositoryLink(forgeUrl, repository);
  return root === undefined
    ? issueLink(forgeUrl, repository, Number(number))
    : subjectPageLink(root, repository, Number(number));
}

/**
 * Returns the place of a rule, `triage.yml:3`. For a file in a repository, the place links to this line at the file's
 * commit.
 */
export function placeLink(
  forgeUrl: string,
  { file, line, commit, source }: { file: string; line: number; commit: string; source: string },
): Html {
  const text = html`<code>${markIds(`${file}:${line}`)}</code>${commit === '' ? '' : html` at <code>${commit.slice(0, 10)}</code>`}`;
  const [, repository, path] = /^([\w.-]+\/[\w.-]+)\/(.+)$/.exec(source) ?? [];
  if (commit === '' || repository === undefined || path === undefined) return text;
  const parts = path.split('/').map(encodeURIComponent).join('/');
  return html`<a href="${forgeUrl}/${pathOfRepository(repository)}/src/commit/${encodeURIComponent(commit)}/${parts}#L${line}">${text}</a>`;
}

/** Returns the actor as text, with a link to the account if the text begins with `@name`. */
export function personLink(forgeUrl: string, by: string): Html {
  const [, name, rest] = /^@([\w.-]{1,40})( .*)?$/s.exec(by) ?? [];
  if (name === undefined) return markIds(by);
  return html`<a href="${forgeUrl}/${encodeURIComponent(name)}">@${name}</a>${rest}`;
}

function pathOfRepository(name: string): string | undefined {
  const parts = name.split('/');
  const isName = parts.length === 2 && parts.every((part) => part !== '' && part !== '.' && part !== '..');
  return isName ? parts.map(encodeURIComponent).join('/') : undefined;
}

/** Returns a link to the form that simulates the rules on a subject, filled in. */
export function simulateLink(root: string, kind: SimulatedKind, subject: string): Html {
  return html`<a class="button" href="${root}simulate?${new URLSearchParams({ kind, subject }).toString()}">Simulate with this</a>`;
}

/** Returns a link to the page of a delivery. */
export function deliveryLink(id: string, root: string): Html {
  return html`<a class="id" href="${root}deliveries/${id}">${id}</a>`;
}

/** Returns the link to the page of a rule, by its identity or by its file and name. */
export function ruleLink(id: string, root: string, text: string = nameOfRule(id)): Html {
  return html`<a href="${root}rules/show?${new URLSearchParams({ rule: id }).toString()}">${markIds(text)}</a>`;
}
