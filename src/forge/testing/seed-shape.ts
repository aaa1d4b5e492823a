import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { CreateBranchProtection } from '../../contract/resources/protections.ts';
import { CreateTeam } from '../../contract/resources/teams.ts';
import { SeedRunner } from './seed-runner.ts';

const name = z.string().min(1);
const names = z.array(name);
const instant = z.iso.datetime({ offset: true });
const visibility = z.enum(['public', 'limited', 'private']);

const Account = z.strictObject({
  name,
  password: z.string().min(1).optional().describe('Absent: the account has no password.'),
  email: z.string().optional().describe('Absent: NAME@localhost.'),
  full_name: z.string().optional(),
  admin: z.boolean().optional().describe('Administers the site.'),
  restricted: z.boolean().optional(),
  visibility: visibility.optional(),
  starred: names.optional().describe('Repositories as owner/name.'),
});

const Label = z.strictObject({
  name,
  color: z.string().describe('Three or six hex digits, with or without #.'),
  description: z.string().optional(),
  exclusive: z.boolean().optional(),
});

/** Hooks are created before issues and pull requests, so that the hooks receive the events of both. */
const Hook = z.strictObject({
  url: z.string(),
  type: z.string().optional().describe('Absent: gitea.'),
  content_type: z.enum(['json', 'form']).optional().describe('Absent: json.'),
  secret: z.string().optional(),
  authorization_header: z.string().optional(),
  events: names.optional().describe('Absent: push.'),
  branch_filter: z.string().optional(),
  active: z.boolean().optional().describe('Absent: true.'),
  name: z.string().optional(),
});
export type SeedHook = z.output<typeof Hook>;

const Team = CreateTeam.extend({
  name,
  members: names.optional(),
  repositories: names.optional().describe('Names without the organization.'),
});

const Organization = z.strictObject({
  name,
  owner: name.describe('The first member of its team Owners.'),
  full_name: z.string().optional(),
  description: z.string().optional(),
  website: z.string().optional(),
  location: z.string().optional(),
  email: z.string().optional(),
  visibility: visibility.optional(),
  teams: z.array(Team).optional(),
  labels: z.array(Label).optional(),
  hooks: z.array(Hook).optional(),
});
export type SeedOrganization = z.output<typeof Organization>;

const files = z.record(z.string(), z.string()).describe('Path to text.');
const Comment = z.strictObject({ by: name, body: name });

const conversation = {
  title: name,
  by: name.describe('Author.'),
  body: z.string().optional(),
  labels: names.optional().describe('Of the repository, or of its organization.'),
  milestone: name.optional().describe('Its title.'),
  assignees: names.optional(),
  due_date: instant.optional(),
  comments: z.array(Comment).optional(),
  state: z.enum(['open', 'closed']).optional(),
};
const Issue = z.strictObject(conversation);
const Pull = z.strictObject({
  ...conversation,
  head: name.describe('A branch of the repository.'),
  base: name.optional().describe('Absent: the default branch.'),
  reviewers: names.optional(),
  reviews: z
    .array(
      z.strictObject({
        by: name,
        event: z.enum(['APPROVED', 'REQUEST_CHANGES', 'COMMENT']),
        body: z.string().optional(),
      }),
    )
    .optional(),
  statuses: z
    .array(
      z.strictObject({
        context: name,
        state: z.enum(['pending', 'success', 'error', 'failure', 'warning', 'skipped']),
        description: z.string().optional(),
        target_url: z.string().optional(),
      }),
    )
    .optional()
    .describe('Of the head, reported by the owner.'),
  merged: z
    .enum(['merge', 'rebase', 'rebase-merge', 'squash', 'fast-forward-only'])
    .optional()
    .describe('Merged by the owner, in this style.'),
});
export type SeedIssue = z.output<typeof Issue>;
export type SeedPull = z.output<typeof Pull>;

const Repository = z.strictObject({
  name: z
    .string()
    .regex(/^[^/]+\/[^/]+$/, 'owner/name')
    .describe('owner/name'),
  description: z.string().optional(),
  private: z.boolean().optional(),
  template: z.boolean().optional(),
  archived: z.boolean().optional(),
  default_branch: name.optional().describe('Absent: main.'),
  collaborators: z.record(name, z.enum(['read', 'write', 'admin'])).optional(),
  files: files.optional().describe('The first commit. Absent: the repository is empty.'),
  branches: z
    .array(
      z.strictObject({
        name,
        from: name.optional().describe('Absent: the default branch.'),
        files: files.optional().describe('One commit on the branch.'),
        message: z.string().optional(),
      }),
    )
    .optional(),
  tags: z
    .array(
      z.strictObject({
        name,
        target: name.optional().describe('Absent: the default branch.'),
        message: z.string().optional().describe('Makes it an annotated tag.'),
      }),
    )
    .optional(),
  wiki: files.optional().describe('Title of the page to its text.'),
  labels: z.array(Label).optional(),
  milestones: z
    .array(
      z.strictObject({
        title: name,
        description: z.string().optional(),
        due_on: instant.optional(),
        state: z.enum(['open', 'closed']).optional(),
      }),
    )
    .optional(),
  hooks: z.array(Hook).optional(),
  issues: z.array(Issue).optional().describe('Numbered from 1 in this order.'),
  pulls: z.array(Pull).optional().describe('Numbered after the issues.'),
  protections: z.array(CreateBranchProtection.extend({ rule_name: name })).optional(),
});
export type SeedRepository = z.output<typeof Repository>;

/** A whole instance as data, created by `reeve forge --seed FILE`. Existing objects are left unchanged. */
export const Seed = z.strictObject({
  version: z.literal(1),
  accounts: z.array(Account).optional(),
  organizations: z.array(Organization).optional(),
  badges: z
    .array(
      z.strictObject({ slug: name, description: z.string().optional(), image_url: z.string().optional() }),
    )
    .optional()
    .describe('Administrators give them to accounts.'),
  repositories: z.array(Repository).optional(),
  runners: z
    .array(SeedRunner)
    .optional()
    .describe('The runners of every level; each start replaces all runners with these.'),
});
export type Seed = z.output<typeof Seed>;

/** Returns the JSON Schema of seed files, for editors. */
export function describeSeed(): object {
  return z.toJSONSchema(Seed, { io: 'input', unrepresentable: 'any' });
}

/** An error at a path of the document, for example `['repositories', 3, 'name']`. */
export type SeedProblem = { readonly path: readonly PropertyKey[]; readonly message: string };

/** A seed with the positions in its source file. */
export type SeedFile = {
  readonly seed: Seed;
  /** Returns a path's position as `file:line:column`. */
  readonly positionOf: (path: readonly PropertyKey[]) => string;
};

/**
 * Parses the text of a seed file (YAML 1.2, no aliases). Returns the seed, or all its errors, each with its position.
 * `file` is only used in messages.
 */
export function parseSeed(text: string, file: string): SeedFile | { readonly problems: readonly string[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    version: '1.2',
    merge: false,
  });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0) return { problems: faults.map((fault) => `${at(fault.pos[0])}: ${fault.message}`) };
  const positionOf = (path: readonly PropertyKey[]): string => at(offsetOf(document, path));
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    return { problems: [`${file}: ${error instanceof Error ? error.message : 'not readable'}`] };
  }
  const parsed = Seed.safeParse(value);
  if (parsed.success) return { seed: parsed.data, positionOf };
  return {
    problems: parsed.error.issues.map(
      (issue) => `${positionOf(issue.path)}: ${issue.path.join('.') || 'the file'}: ${issue.message}`,
    ),
  };
}

/**
 * Returns the offset of a path, or of its nearest existing parent, because a missing field has no position of its own.
 */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
    if (Array.isArray(range) && typeof range[0] === 'number') return range[0];
  }
  return 0;
}
