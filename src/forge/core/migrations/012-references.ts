/** Finds what an issue or comment refers to, when its text changes or goes. */
export const references = /* sql */ `
CREATE INDEX timeline_origin ON timeline (json_extract(refers, '$.refIssue'))
  WHERE type IN ('issue_ref', 'pull_ref', 'comment_ref');
`;
