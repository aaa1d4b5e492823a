import type { Difference } from './compare.ts';
import type { Step } from './side.ts';

/** Permanent difference, with its reason. */
export type Explanation = {
  readonly reason: string;
  /** Method and path as sent, with the names of the scenario. */
  readonly requests: RegExp;
  /** Positions of the difference: `status`, a header, a field of the body. */
  readonly at: RegExp;
  /** Value of the real server at that position; if absent, any value. */
  readonly theirs?: RegExp;
};

const anything = /^/;

/** All explanations; one that matches no request is printed, because the difference may be gone. */
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
    reason:
      'Gitea detects languages and licences after a push; the embedded forge detects them when an operation asks for them, and the answer of a repository names none.',
    requests: anything,
    at: /^body.*\.(language|licenses\.length)$/,
  },
  {
    reason: 'Gitea answers with the row as it was before the change.',
    requests: /^(POST|PATCH) .*(\/forks|\/generate|\/pulls|\/pulls\/\$closedPull|\/transfer\/accept)$/,
    at: /^body\..*(watchers_count|open_issues|open_pr_counter|permissions\.(admin|push))$/,
  },
  {
    reason: 'Gitea has more templates of gitignore files, and adds notes of its own to the texts.',
    requests: /^GET \/(gitignore|licenses)\//,
    at: /^body/,
  },
  {
    reason: 'Activities are counted by quarters of an hour, one of which may end between the two servers.',
    requests: /^GET \/users\/[^/]+\/heatmap$/,
    at: /^body(\.length|\[\]\.(contributions|timestamp))$/,
  },
  {
    reason: 'A stopwatch is stopped after the time that the requests take, which may be a second.',
    requests: /^GET .*\/times(\/|\?|$)/,
    at: /^body(\[\])?\.time$/,
    theirs: /^\d$/,
  },
  {
    reason: 'The token of the administrator has another name on each server.',
    requests: /^GET \/token$/,
    at: /^body\.name$/,
  },
  {
    reason: 'Gitea sends a page with a redirect.',
    requests: /^GET \/(orgs\/\$acme\/members|users)\//,
    at: /^(content-type|body)$/,
  },
  {
    reason: 'Gitea makes tags under its own name, the embedded forge under that of the caller.',
    requests: /\/git\/tags\//,
    at: /^body\.tagger\./,
  },
  {
    reason: 'The embedded forge names the file in both operations that send one.',
    requests: /\/media\//,
    at: /^content-disposition$/,
  },
  {
    reason: 'Gitea counts repositories that it does not list.',
    requests: /^GET \/users\/\$ada\/repos/,
    at: /^(x-total-count|link)$/,
  },
  {
    reason:
      'The activity of a review names no comment, and a comment in a feed is complete; in Gitea the author is missing.',
    requests: /\/activities\/feeds/,
    at: /^body\[\]\.comment(_id)?\b/,
  },
  {
    reason: 'Gitea reads the body before it looks up the organization; the operation is deprecated.',
    requests: /^POST \/org\/no-such-name\/repos$/,
    at: /^status$/,
  },
  {
    reason: 'Gitea writes a second error behind the first.',
    requests: /^(PUT|DELETE) .*\/site\/teams\/no-such-name$/,
    at: /^body$/,
  },
  {
    reason: 'An answer without a body has no content type on Gitea.',
    requests: /^POST \/(markdown|markup)$/,
    at: /^content-type$/,
  },
  {
    reason: 'The account that stands for removed ones has a generated picture.',
    requests: anything,
    at: /^body.*\.user\.avatar_url$/,
    theirs: /avatar_default\.png$/,
  },
  {
    reason: 'The size of attachments and LFS are settings of a server.',
    requests: /^GET \/settings\/(attachment|repository)$/,
    at: /^body\.(max_size|lfs_disabled)$/,
  },
  {
    reason: 'Each server names its own version.',
    requests: /^GET \/(version|nodeinfo)/,
    at: /^body/,
  },
];

/** Returns why two responses to a step differ, or undefined if that is not explained. */
export function explain({ method, path }: Step, { at, theirs }: Difference): Explanation | undefined {
  return explanations.find(
    (one) => one.requests.test(`${method} ${path}`) && one.at.test(at) && (one.theirs?.test(theirs) ?? true),
  );
}
