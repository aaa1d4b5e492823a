import { type Html, html } from '../../../platform/http/html.ts';
import { nameOfRule } from '../../../rules/verdict.ts';
import { markIds } from '../look/mark-ids.ts';

/** Returns the link to the page of a rule, by its identity or by its file and name. */
export function ruleLink(id: string, root: string, text: string = nameOfRule(id)): Html {
  return html`<a href="${root}rules/show?${new URLSearchParams({ rule: id }).toString()}">${markIds(text)}</a>`;
}
