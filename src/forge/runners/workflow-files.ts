import { parse } from 'yaml';
import { isRecord } from '../../contract/events/payload-members.ts';
import type { GitRepository } from '../git/repository.ts';
import { findEntry, readBlob, readTree } from '../git/tree.ts';

/** In this order: files of the second folder count where the first one is not there. */
const folders = ['.gitea/workflows', '.github/workflows'] as const;
/** A larger file is no workflow that a person wrote. */
const maxBytes = 1024 * 1024;
const maxJobs = 256;

export type WorkflowFile = { readonly folder: string; readonly name: string; readonly blobId: string };

type WorkflowJob = { readonly name: string; readonly labels: readonly string[]; readonly isBlocked: boolean };

/** What a workflow file says, as far as a dispatch needs it. */
export type WorkflowText = {
  /** Empty where the file gives none. */
  readonly title: string;
  /** Defaults of the inputs; undefined where the workflow is not run by hand. */
  readonly inputs: Readonly<Record<string, string>> | undefined;
  readonly jobs: readonly WorkflowJob[];
};

/** Returns the workflow files of a commit in git's order. */
export async function listWorkflowFiles(
  git: GitRepository,
  commitId: string,
): Promise<readonly WorkflowFile[]> {
  for (const folder of folders) {
    const entry = await findEntry(git, commitId, folder);
    if (entry?.kind !== 'dir') continue;
    const entries = (await readTree(git, entry.id)) ?? [];
    return entries
      .filter(({ name, kind }) => kind === 'file' && /\.ya?ml$/.test(name))
      .map(({ name, id }) => ({ folder, name, blobId: id }));
  }
  return [];
}

/** Reads a workflow file. What is no workflow has neither title nor jobs, and is not run by hand. */
export async function readWorkflowFile(git: GitRepository, file: WorkflowFile): Promise<WorkflowText> {
  const content = (await readBlob(git, file.blobId, maxBytes))?.content;
  return parseWorkflow(content?.toString('utf8') ?? '');
}

function parseWorkflow(text: string): WorkflowText {
  let said: unknown;
  try {
    said = parse(text, { maxAliasCount: 100, logLevel: 'silent' });
  } catch {
    said = undefined;
  }
  if (!isRecord(said)) return { title: '', inputs: undefined, jobs: [] };
  return {
    title: typeof said.name === 'string' ? said.name : '',
    inputs: inputsOf(said.on),
    jobs: jobsOf(said.jobs),
  };
}

function inputsOf(on: unknown): Readonly<Record<string, string>> | undefined {
  if (on === 'workflow_dispatch') return {};
  if (Array.isArray(on)) return on.includes('workflow_dispatch') ? {} : undefined;
  if (!isRecord(on) || !('workflow_dispatch' in on)) return undefined;
  const { workflow_dispatch } = on;
  const inputs =
    isRecord(workflow_dispatch) && isRecord(workflow_dispatch.inputs) ? workflow_dispatch.inputs : {};
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, isRecord(input) ? String(input.default ?? '') : '']),
  );
}

function jobsOf(jobs: unknown): readonly WorkflowJob[] {
  if (!isRecord(jobs)) return [];
  return Object.entries(jobs)
    .slice(0, maxJobs)
    .map(([key, job]) => {
      const { name, needs, 'runs-on': runsOn } = isRecord(job) ? job : {};
      const labels = Array.isArray(runsOn) ? runsOn : runsOn === undefined ? [] : [runsOn];
      return {
        name: typeof name === 'string' ? name : key,
        labels: labels.filter((label): label is string => typeof label === 'string'),
        isBlocked: needs !== undefined,
      };
    });
}
