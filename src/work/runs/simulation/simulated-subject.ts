import { ReeveError } from '../../../platform/errors.ts';

/** What can be simulated, and how each is written. */
export const simulatedKinds = {
  pull_request: 'OWNER/REPO#NUMBER',
  issue: 'OWNER/REPO#NUMBER',
  branch: 'OWNER/REPO@BRANCH',
  repository: 'OWNER/REPO',
} as const;
export type SimulatedKind = keyof typeof simulatedKinds;

/** The live subject that a simulation is about. */
export type SimulatedSubject = {
  readonly kind: SimulatedKind;
  readonly owner: string;
  readonly repo: string;
  /** Number of the issue or pull request. */
  readonly index?: number;
  readonly branch?: string;
};

const place = '([^/\\s#@]+)/([^/\\s#@]+)';
const forms: Readonly<Record<SimulatedKind, RegExp>> = {
  pull_request: new RegExp(`^${place}#([1-9]\\d{0,9})$`),
  issue: new RegExp(`^${place}#([1-9]\\d{0,9})$`),
  branch: new RegExp(`^${place}@(\\S{1,255})$`),
  repository: new RegExp(`^${place}$`),
};

/** Parses the subject of a simulation. Throws `usage` with the form that the kind has. */
export function parseSimulatedSubject(kind: SimulatedKind, text: string): SimulatedSubject {
  const found = text.length > 1_000 ? null : forms[kind].exec(text.trim());
  const [, owner, repo, rest] = found ?? [];
  if (owner === undefined || repo === undefined) {
    throw new ReeveError('usage', `"${text.slice(0, 200)}" is no ${kind}: write ${simulatedKinds[kind]}`);
  }
  if (rest === undefined) return { kind, owner, repo };
  return kind === 'branch' ? { kind, owner, repo, branch: rest } : { kind, owner, repo, index: Number(rest) };
}
