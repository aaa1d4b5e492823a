import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { codeAs } from '../row-fields.ts';
import { flag, list, resource, text } from '../shape.ts';

const FormField = resource(
  { type: text },
  {
    /** Id of the field; its position if the file defines no id. */
    id: text,
    attributes: z.record(text, z.unknown()),
    validations: z.record(text, z.unknown()),
    /** Places where the field is shown: `form`, `content`. */
    visible: z.array(text),
  },
);

/** A template for new issues: a Markdown file with front matter, or a form in YAML. */
export const IssueTemplate = resource(
  { name: text, file_name: text },
  {
    title: text,
    about: text,
    labels: z.array(text),
    assignees: z.array(text),
    ref: text,
    /** Text after the front matter; empty for a form. */
    content: text,
    /** Fields of a form. */
    body: z.array(FormField),
  },
);
export type IssueTemplate = z.output<typeof IssueTemplate>;

const ContactLink = resource({ name: text }, { url: text, about: text });

const inFile = 'routers/api/v1/repo/repo.go';

/** Issue templates of the default branch. */
export const issueTemplateOperations = {
  listIssueTemplates: defineOperation({
    id: 'issue-template.list',
    meaning:
      'Lists the issue templates of a repository. Files with mistakes are left out and counted in the header `X-Gitea-Warning`.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issue_templates',
    ...codeAs('reader'),
    success: 200,
    response: list(IssueTemplate),
    errors: [403, 404],
    source: `${inFile} GetIssueTemplates`,
  }),
  getIssueConfig: defineOperation({
    id: 'issue-template.get-config',
    meaning:
      'Returns the configuration of the page for new issues; the default where there is no file, or one with mistakes.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issue_config',
    ...codeAs('reader'),
    success: 200,
    response: resource({ blank_issues_enabled: flag }, { contact_links: z.array(ContactLink) }),
    errors: [403, 404],
    source: `${inFile} GetIssueConfig`,
  }),
  validateIssueConfig: defineOperation({
    id: 'issue-template.validate-config',
    meaning: 'Returns whether the configuration has mistakes, and the first of them.',
    method: 'GET',
    path: '/repos/{owner}/{repo}/issue_config/validate',
    ...codeAs('reader'),
    success: 200,
    response: resource({ valid: flag }, { message: text }),
    errors: [403, 404],
    source: `${inFile} ValidateIssueConfig`,
  }),
} as const;
