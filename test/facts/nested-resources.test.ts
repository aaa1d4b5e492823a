import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Subject } from '../../src/contract/events/subject.ts';
import { Comment } from '../../src/contract/resources/comments.ts';
import { Issue } from '../../src/contract/resources/issues.ts';
import { PullRequest } from '../../src/contract/resources/pulls.ts';
import { Repository } from '../../src/contract/resources/repositories.ts';
import type { Fact } from '../../src/facts/fact.ts';
import { facts } from '../../src/facts/facts.ts';
import { timeline } from '../../src/facts/issue.ts';

const home = { id: 1, owner: 'acme', name: 'demo' };
const subject: Subject = { kind: 'pull_request', repository: home, index: 1 };
const elsewhereId = 999;

/**
 * Parts of a fact's value that belong to the subject's own repository, by their position in the type. Everything else
 * that looks like an issue, a comment, a repository or a pull request may belong to any other repository.
 */
const ownByRequest: ReadonlySet<string> = new Set([
  'repository',
  'pull_request',
  'pull_request.base.repo',
  'issue',
  'issue.repository',
  'item',
  'comment',
  'comments[]',
  'reviews[]',
  'review',
  'approvals[]',
  'rejections[]',
  'current_reviews[]',
  'backports[]',
  'backports[].base.repo',
  // The tracked times of the subject itself.
  'tracked_times[].issue',
  'tracked_times[].issue.repository',
  'timeline[]',
]);

/** Fields that identify a repository and its owner, which are visible on every page that mentions the repository. */
const identity = new Set(['name', 'full_name', 'html_url', 'owner']);

type Kind = 'issue' | 'comment' | 'repository' | 'pull request';

/**
 * Returns the resource kind that an object's fields suggest. Uses no table of types, so that a new type is covered as
 * well.
 */
function kindOf(members: Readonly<Record<string, unknown>>): Kind | undefined {
  const has = (...names: string[]) => names.every((name) => name in members);
  if (has('full_name', 'name') && !has('username')) return 'repository';
  if (has('number', 'head', 'base')) return 'pull request';
  if (has('number', 'title', 'state')) return 'issue';
  return has('body', 'user') ? 'comment' : undefined;
}

type Sample = {
  readonly value: unknown;
  readonly own: readonly string[];
  readonly nested: readonly string[];
};

/**
 * Returns a value of a type with every field. Each object that looks like a nested resource belongs to another
 * repository, and each of its texts contains its position. `own` and `nested` are the positions of resources.
 */
function sampleOf(shape: z.ZodType, root: string): Sample {
  const own: string[] = [];
  const nested: string[] = [];
  const make = (at: z.ZodType, path: string, isForeign: boolean): unknown => {
    if (at instanceof z.ZodOptional || at instanceof z.ZodNullable || at instanceof z.ZodDefault)
      return make(at.def.innerType as z.ZodType, path, isForeign);
    if (at instanceof z.ZodPipe) return make(at.def.in as z.ZodType, path, isForeign);
    if (at instanceof z.ZodArray) return [make(at.def.element as z.ZodType, `${path}[]`, isForeign)];
    if (at instanceof z.ZodRecord)
      return { key: make(at.def.valueType as z.ZodType, `${path}{}`, isForeign) };
    if (at instanceof z.ZodUnion) return make(at.def.options[0] as z.ZodType, path, isForeign);
    if (at instanceof z.ZodObject) return object(at.shape, path, isForeign);
    if (at instanceof z.ZodString) return isForeign ? `elsewhere: ${path}` : 'own';
    if (at instanceof z.ZodNumber) return 7;
    if (at instanceof z.ZodBoolean) return true;
    if (at instanceof z.ZodEnum) return at.options[0];
    if (at instanceof z.ZodLiteral) return at.value;
    throw new Error(`${path}: no sample of ${at.def.type}`);
  };
  const object = (members: Readonly<Record<string, unknown>>, path: string, isInside: boolean): unknown => {
    const kind = kindOf(members);
    const isOwn = ownByRequest.has(path);
    const isForeign = kind === undefined ? isInside : !isOwn;
    if (kind !== undefined) (isOwn ? own : nested).push(path);
    const made = Object.fromEntries(
      Object.entries(members).map(([name, member]) => {
        const isNamed = kind === 'repository' && identity.has(name);
        return [name, make(member as z.ZodType, `${path}.${name}`, isForeign && !isNamed)];
      }),
    );
    if (kind === 'repository') return { ...made, id: isOwn ? home.id : elsewhereId };
    const where = { id: isOwn ? home.id : elsewhereId };
    return kind === 'issue' && 'repository' in made ? { ...made, repository: where } : made;
  };
  return { value: make(shape, root, false), own, nested };
}

/** Returns the texts of other repositories in a value. */
function foreignTexts(value: unknown): readonly string[] {
  return [...new Set(JSON.stringify(value).match(/elsewhere: [^"]*/g) ?? [])];
}

function isForOperators({ shows, onlyFor, visibleTo }: Fact): boolean {
  return onlyFor === 'operator' || (shows === 'beyond' && visibleTo === 'operators');
}

/**
 * Returns the parts of a sample that rules below operator level see, and that the dashboard shows to accounts other
 * than operators.
 */
function shownBy(fact: Fact): { readonly files: readonly string[]; readonly dashboard: readonly string[] } {
  const { value } = sampleOf(fact.shape, fact.name);
  const narrowed = fact.narrow ? fact.narrow(value, subject) : value;
  return {
    files: isForOperators(fact) ? [] : foreignTexts(narrowed),
    dashboard:
      fact.visibleTo === 'operators'
        ? []
        : foreignTexts(fact.narrow && fact.narrowsForAll ? narrowed : value),
  };
}

/** Returns an entry of the timeline as repository rules see it. */
function narrowed(entry: object): Record<string, unknown> {
  const knowledge = timeline.narrow?.([entry] as never, subject);
  return (knowledge as Record<string, unknown>[])[0] ?? {};
}

describe('nested resources of other repositories in a fact', () => {
  it.each(facts.map((fact) => [fact.name, fact] as const))(
    '%s: their texts are hidden from repository rules and from readers of the dashboard',
    (_, fact) => {
      expect(shownBy(fact)).toEqual({ files: [], dashboard: [] });
    },
  );

  it.each([
    ['an issue', Issue],
    ['a comment', Comment],
    ['a repository', Repository],
    ['a pull request', PullRequest],
    [
      'an object that looks like an issue',
      z.object({ number: z.number(), title: z.string(), state: z.string() }),
    ],
  ])('are detected if a fact does not narrow them: %s', (_, nested) => {
    const { narrow: _narrow, ...row } = timeline;
    const fact: Fact = {
      ...row,
      visibleTo: 'subject',
      shape: z.array(z.object({ inside: nested.nullish() })),
    };
    const shown = shownBy(fact);

    expect(shown.files.length).toBeGreaterThan(0);
    expect(shown.dashboard).toEqual(shown.files);
  });

  it('are found in the facts that contain them', () => {
    const samples = facts.map(({ shape, name }) => sampleOf(shape, name));

    expect(samples.flatMap(({ nested }) => nested)).toEqual(
      expect.arrayContaining([
        'timeline[].ref_issue',
        'timeline[].ref_comment',
        'timeline[].dependent_issue',
        'timeline[].tracked_time.issue',
        'pull_request.head.repo',
        'pull_request.head.repo.parent',
        'pull_request.base.repo.parent',
        'repository.parent',
        'backports[].head.repo',
        'dependencies[]',
      ]),
    );
    // A position that no longer exists in the types must not remain in the exceptions.
    expect(samples.flatMap(({ own }) => own).toSorted()).toEqual([...ownByRequest].toSorted());
  });

  it("are kept if they belong to the subject's repository", () => {
    const { value } = sampleOf(timeline.shape, 'timeline');
    const [entry] = value as Record<string, Record<string, unknown>>[];
    const ours = { ...entry?.ref_issue, repository: { id: home.id } };
    const seen = narrowed({ ...entry, ref_issue: ours });

    expect(seen).toMatchObject({
      ref_issue: ours,
      ref_comment: entry?.ref_comment,
      type: 'own',
      body: 'own',
    });
    expect(seen.dependent_issue).toEqual({ number: 7, state: 'open' });
  });

  it('are hidden in the timeline entry of a commit, whose text names its repository', () => {
    const body = '<a href="/acme/secret/commit/abc">a title of secret</a>';
    const entry = { id: 1, type: 'commit_ref', body, ref_commit_sha: 'abc', html_url: 'x' };

    expect(timeline.narrow?.([entry] as never, subject)).toEqual([
      { ...entry, body: '', ref_commit_sha: '' },
    ]);
  });
});
