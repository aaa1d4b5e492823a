import { type Html, html } from '../../platform/http/html.ts';
import type { LabelRow } from '../core/issue-rows.ts';

/** Shows labels with their colours: a disc, since the policy of the pages allows no styles of an element and text stays readable. */
export function viewLabels(labels: readonly LabelRow[]): Html {
  return html`${labels.map(
    ({ name, color }) =>
      html`<span class="label"><svg viewBox="0 0 2 2" aria-hidden="true"><circle cx="1" cy="1" r="1" fill="#${color}"/></svg> ${name}</span> `,
  )}`;
}
