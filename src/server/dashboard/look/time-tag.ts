import { type Html, html } from '../../../platform/http/html.ts';

const units = [
  ['day', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;
/** From this age on a date says more than a number of days. */
const longAgoSeconds = 30 * 86_400;

/** Returns an instant as its distance from now, with the exact time in UTC where the pointer is over it. */
export function timeTag(at: Date | string | undefined, now: Date): Html | undefined {
  if (at === undefined) return undefined;
  const instant = new Date(at);
  const text = instant.toISOString();
  const exact = `${text.slice(0, 19).replace('T', ' ')} UTC`;
  return html`<time datetime="${text}" title="${exact}">${relativeWords(instant, now)}</time>`;
}

/** Returns how far an instant is from now: `just now`, `5 min ago`, `in 2 days`; far ones as a date. */
export function relativeWords(at: Date, now: Date): string {
  const seconds = Math.round((at.getTime() - now.getTime()) / 1_000);
  const distance = Math.abs(seconds);
  if (distance >= longAgoSeconds) return at.toISOString().slice(0, 10);
  if (distance < 5) return 'just now';
  const [unit, size] = units.find(([, one]) => distance >= one) ?? units[3];
  const count = Math.floor(distance / size);
  const words = `${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`;
  return seconds > 0 ? `in ${words}` : `${words} ago`;
}
