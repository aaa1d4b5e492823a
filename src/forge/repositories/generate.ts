import { repositoryAddress, signatureOf } from '../code/commits-rows.ts';
import { copyLfsObjects } from '../code/lfs-rows.ts';
import { requireCopy } from '../platform/access/code.ts';
import { canCreateRepositoryIn, reaches } from '../platform/access/permissions.ts';
import { userNamed } from '../platform/access/redirects.ts';
import type { RepositoryTarget } from '../platform/access/targets.ts';
import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem } from '../platform/errors.ts';
import type { FileEdit } from '../platform/git/commit-files.ts';
import { commitTree, copyTree } from '../platform/git/merge.ts';
import { cleanWritePath } from '../platform/git/names.ts';
import { moveRefs, readBranch, readCommit } from '../platform/git/refs.ts';
import { findEntry, readBlob, readTreeDeep } from '../platform/git/tree.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import type { RepositoryRow, UserRow } from '../platform/rows.ts';
import { secondsOf } from '../platform/time.ts';
import { createForgeGlob } from '../pulls/protections-service.ts';
import { toRepository } from './repositories-rows.ts';
import { createRepository } from './repositories-service.ts';

type TemplateSource = RepositoryTarget & { readonly context: ForgeContext; readonly caller: UserRow };

const rulesPath = '.gitea/template';
/** Maximum size of an expanded file; larger files are copied unchanged. */
const maxFileBytes = 1024 * 1024;
const maxExpandedFiles = 2000;
const maxExpandedBytes = 32 * 1024 * 1024;

/**
 * Returns the owner of the new repository: the caller, an organization where the caller may create repositories, or any
 * account if the caller is a site administrator.
 */
function findHolder({ context, caller }: TemplateSource, name: string): UserRow {
  if (name === caller.name) return caller;
  const holder = userNamed(context.db, name);
  if (!holder) throw new ForgeProblem(404, `request owner \`${name}\` does not exist`);
  if (caller.is_admin) return holder;
  if (holder.type !== 'organization')
    throw new ForgeProblem(403, 'Only admin can generate repository for other user.');
  if (canCreateRepositoryIn(context.db, holder, caller)) return holder;
  throw new ForgeProblem(403, 'Given user is not allowed to create repository in organization.');
}

/** Returns the files that `.gitea/template` names, with their variables expanded. */
async function expandFiles(
  { context, repository: template, owner }: TemplateSource,
  commitId: string,
  made: { readonly repository: RepositoryRow; readonly holder: UserRow },
): Promise<FileEdit[]> {
  const git = context.git.open(template.id);
  const rules = await findEntry(git, commitId, rulesPath);
  if (rules?.kind !== 'file') return [];
  const matches = createTemplateMatcher(
    (await readBlob(git, rules.id, maxFileBytes))?.content?.toString('utf8') ?? '',
  );
  const sideOf = (row: RepositoryRow, { name }: UserRow) => ({
    name: row.name,
    owner: name,
    description: row.description,
    link: `/${name}/${row.name}`,
    httpsUrl: `${repositoryAddress(context.rootUrl(), name, row.name).html}.git`,
    sshUrl: `git@${new URL(context.rootUrl()).hostname}:${name}/${row.name}.git`,
  });
  const expand = createExpansion({
    repository: sideOf(made.repository, made.holder),
    template: sideOf(template, owner),
    now: context.clock(),
  });
  const edits: FileEdit[] = [{ path: rulesPath, content: undefined }];
  let bytes = 0;
  for (const { path, id, kind, mode } of (await readTreeDeep(git, commitId)) ?? []) {
    if (kind !== 'file' || path === rulesPath || !matches(path)) continue;
    const content = (await readBlob(git, id, maxFileBytes))?.content;
    if (content === undefined) continue;
    const changed = {
      path: cleanExpandedPath(expand(Buffer.from(path)).toString('utf8')),
      content: expand(content),
      mode: mode === '100755' ? '100755' : '100644',
    } as const;
    bytes += changed.content.length;
    if (edits.length >= maxExpandedFiles || bytes > maxExpandedBytes)
      throw new ForgeProblem(422, `${rulesPath} names more files than can be expanded`);
    if (cleanWritePath(changed.path) === undefined)
      throw new ForgeProblem(422, `the path ${path} of the template does not expand to a valid file path`);
    if (changed.path !== path) edits.push({ path, content: undefined });
    edits.push(changed);
  }
  return edits;
}

/** Creates the new repository's first commit with the files of the template's default branch, without their history. */
async function copyFiles(
  template: TemplateSource,
  repository: RepositoryRow,
  holder: UserRow,
): Promise<void> {
  const { context } = template;
  const source = context.git.open(template.repository.id);
  const target = context.git.open(repository.id);
  const tip = await readBranch(source, template.repository.default_branch);
  if (!tip) return;
  const permit = requireCopy(context, template.caller, template.repository.id);
  await copyTree(source, target, { tree: tip.tree, permit });
  copyLfsObjects(context, permit, repository.id);
  const author = signatureOf(context, holder);
  const first = { parents: [], message: 'Initial commit\n', author, committer: author };
  let tree = tip.tree;
  const edits = await expandFiles(template, tip.id, { repository, holder });
  if (edits.length > 0) {
    const parent = await commitTree(target, tree, first);
    const branch = `expanded/${repository.default_branch}`;
    const expanded = await context.git.commitFiles(repository.id, { ...first, branch, parent, edits });
    tree = (await readCommit(target, expanded))?.tree ?? tree;
    await moveRefs(target, [{ name: `refs/heads/${branch}`, before: expanded, after: undefined }]);
  }
  const after = await commitTree(target, tree, first);
  await moveRefs(target, [{ name: `refs/heads/${repository.default_branch}`, before: undefined, after }]);
  context.db.run(
    'UPDATE repositories SET is_empty = 0, num_branches = 1, size = ? WHERE id = ?',
    (await context.git.measure(repository.id)).bytes,
    repository.id,
  );
}

type GenerateItems = {
  readonly topics?: boolean | undefined;
  readonly webhooks?: boolean | undefined;
  readonly labels?: boolean | undefined;
  readonly protected_branch?: boolean | undefined;
};

function copyRows({ context, ...template }: TemplateSource, id: number, items: GenerateItems): void {
  const { db } = context;
  const now = secondsOf(context.clock());
  const from = template.repository.id;
  if (items.topics) db.run('UPDATE repositories SET topics = ? WHERE id = ?', template.repository.topics, id);
  if (items.labels) {
    db.run(
      `INSERT INTO labels (repo_id, name, color, description, exclusive, created_at, updated_at)
         SELECT ?1, name, color, description, exclusive, ?2, ?2 FROM labels WHERE repo_id = ?3 ORDER BY id`,
      id,
      now,
      from,
    );
  }
  // Only administrators of the template may copy its webhooks: a copy includes the secret by which the receiver
  // recognizes deliveries of the template. The caller counts as the account that set the URL of the copy.
  if (items.webhooks && reaches(template.permission, 'admin')) {
    const copied = 'type, url, content_type, secret, meta, events, branch_filter, is_active';
    db.run(
      `INSERT INTO hooks (repo_id, ${copied}, created_at, updated_at, url_by) SELECT ?1, ${copied}, ?2, ?2, ?4 FROM hooks
         WHERE repo_id = ?3 ORDER BY id`,
      id,
      now,
      from,
      template.caller.id,
    );
  }
  // Only administrators of the template may read its protections.
  if (items.protected_branch && reaches(template.permission, 'admin')) {
    db.run(
      `INSERT INTO branch_protections (repo_id, rule_name, priority, terms, created_at, updated_at)
         SELECT ?1, rule_name, priority, terms, ?2, ?2 FROM branch_protections WHERE repo_id = ?3 ORDER BY id`,
      id,
      now,
      from,
    );
  }
}

/** Handlers that generate repositories from a template: its files, without their history, and the selected items. */
export const generateHandlers = defineHandlers({
  async generateRepository(call) {
    const { context, repository: template, caller, body } = call;
    if (template.is_template === 0) throw new ForgeProblem(422, 'this is not a template repo');
    const { git_content, topics, git_hooks, webhooks, avatar, labels, protected_branch } = body;
    if (![git_content, topics, git_hooks, webhooks, avatar, labels, protected_branch].includes(true))
      throw new ForgeProblem(422, 'must select at least one template item');
    const holder = findHolder(call, body.owner ?? '');
    const wanted = {
      name: body.name,
      description: body.description,
      private: body.private,
      default_branch: body.default_branch || template.default_branch,
      object_format_name: template.object_format,
    };
    const repository = await createRepository(context, holder, caller, wanted, async (made) => {
      if (git_content) await copyFiles(call, made, holder);
      context.db.transaction(() => copyRows(call, made.id, body));
    });
    return toRepository(context, repository, { owner: holder, viewer: caller, permission: 'owner' });
  },
});

/** Values of the variables in a template's files. */
type TemplateNames = {
  readonly repository: TemplateSide;
  readonly template: TemplateSide;
  readonly now: Date;
};

type TemplateSide = {
  readonly name: string;
  readonly owner: string;
  readonly description: string;
  /** Path relative to the root of the forge. */
  readonly link: string;
  readonly httpsUrl: string;
  readonly sshUrl: string;
};

const months = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
];

/** Splits a name at every character that is not a letter or digit, and before a capital letter that starts a word. */
function splitWords(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z\d]+/)
    .filter((word) => word !== '');
}

const capitalize = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);
const pascal = (name: string) =>
  splitWords(name)
    .map((word) => capitalize(word.toLowerCase()))
    .join('');

const transformers: Readonly<Record<string, (name: string) => string>> = {
  SNAKE: (name) => splitWords(name).join('_').toLowerCase(),
  KEBAB: (name) => splitWords(name).join('-').toLowerCase(),
  CAMEL: (name) => pascal(name).replace(/^[A-Z]/, (letter) => letter.toLowerCase()),
  PASCAL: pascal,
  LOWER: (name) => name.toLowerCase(),
  UPPER: (name) => name.toUpperCase(),
  TITLE: (name) => name.toLowerCase().replace(/(?<![a-z\d_])[a-z]/g, (letter) => letter.toUpperCase()),
};

function withTransformers(name: string, value: string): [string, string][] {
  const changed = Object.entries(transformers).map(([suffix, change]): [string, string] => [
    `${name}_${suffix}`,
    change(value),
  ]);
  return [[name, value], ...changed];
}

function valuesOf({ repository, template, now }: TemplateNames): ReadonlyMap<string, string> {
  const two = (value: number) => String(value).padStart(2, '0');
  const sides = [
    ['REPO', repository],
    ['TEMPLATE', template],
  ] as const;
  return new Map([
    ['YEAR', String(now.getUTCFullYear())],
    ['MONTH', two(now.getUTCMonth() + 1)],
    ['DAY', two(now.getUTCDate())],
    ...withTransformers('MONTH_ENGLISH', months[now.getUTCMonth()] ?? ''),
    ...sides.flatMap(([prefix, side]): [string, string][] => [
      ...withTransformers(`${prefix}_NAME`, side.name),
      ...withTransformers(`${prefix}_OWNER`, side.owner),
      [`${prefix}_DESCRIPTION`, side.description],
      [`${prefix}_LINK`, side.link],
      [`${prefix}_HTTPS_URL`, side.httpsUrl],
      [`${prefix}_SSH_URL`, side.sshUrl],
    ]),
  ]);
}

/**
 * Returns a function that replaces `$NAME` and `${NAME}` in bytes. An unknown variable loses its dollar sign, as in
 * Gitea.
 */
function createExpansion(names: TemplateNames): (content: Buffer) => Buffer {
  const values = valuesOf(names);
  return (content) => {
    // Latin-1 preserves every byte, whatever the encoding of the file.
    const text = content
      .toString('latin1')
      .replace(/\$(?:\{([^}]*)\}|([*#$@!?\-0-9])|(\w+)|\{)/g, (_, braced, special, plain) => {
        const name: string = braced ?? special ?? plain ?? '';
        const value = values.get(name);
        return value === undefined ? name : Buffer.from(value).toString('latin1');
      });
    return Buffer.from(text, 'latin1');
  };
}

/** Returns a matcher for the paths to expand, from the globs in `.gitea/template`, one per line. */
function createTemplateMatcher(rules: string): (path: string) => boolean {
  const globs = rules
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap((line) => createForgeGlob(line, '/') ?? []);
  return (path) => globs.some((matches) => matches(path));
}

/** Returns an expanded path with invalid parts replaced: reserved names, `..`, `.git`, control characters. */
function cleanExpandedPath(path: string): string {
  const cleanField = (field: string): string => {
    const safe = [...field]
      .map((character) => (character < ' ' || '<>:"\\|?*'.includes(character) ? '_' : character))
      .join('')
      .replace(/^(con|prn|aux|nul|com\d|lpt\d)$/i, '_')
      .trim();
    const inside = safe.startsWith('..') ? `__${safe.slice(2)}` : safe;
    return inside.toLowerCase() === '.git' ? `_${inside.slice(1)}` : inside;
  };
  return path
    .split('/')
    .map(cleanField)
    .filter((field) => field !== '' && field !== '.')
    .join('/');
}
