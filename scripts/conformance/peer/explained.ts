import type { Difference } from './compare.ts';
import type { Step } from './step.ts';

/** A difference that stays, and why. */
export type Explanation = {
  readonly reason: string;
  /** Method and path as they are sent, with the names of the scenario in them. */
  readonly requests: RegExp;
  /** Where the answers differ: `status`, a header, a member of the body. */
  readonly at: RegExp;
  /** What the real server gives there; absent: anything. */
  readonly theirs?: RegExp;
};

const anything = /^/;

/** All of them; one that no request met is printed, because it may have gone. */
export const explanations: readonly Explanation[] = [
  {
    reason: 'The server answers 500 to a mistake of the caller; the embedded forge names the mistake.',
    requests: anything,
    at: /^status$/,
    theirs: /^500/,
  },
  {
    reason: 'Operations of older servers and of Forgejo, which the embedded forge serves as well.',
    requests: /^GET (\/.+)?\/runners\/registration-token|^GET \/nodeinfo/,
    at: /^status$/,
    theirs: /^404/,
  },
  {
    reason: 'The text of an error is each server’s own; its status and its shape are the same.',
    requests: anything,
    at: /^body\.message$/,
  },
  {
    reason: 'Each server names its own version.',
    requests: /^GET \/(version|nodeinfo)/,
    at: /^body/,
  },
];

/** Returns why two answers to a step differ, or undefined. */
export function explain({ method, path }: Step, { at, theirs }: Difference): Explanation | undefined {
  return explanations.find(
    (one) => one.requests.test(`${method} ${path}`) && one.at.test(at) && (one.theirs?.test(theirs) ?? true),
  );
}
