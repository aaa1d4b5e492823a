import type { Client } from '../../../client/client.ts';
import { operations } from '../../../contract/operations.ts';
import { ReeveError } from '../../../platform/errors.ts';
import { type Finding, ok, wrong } from '../finding.ts';

/** Examines whether the account can read the repositories that are to be served without a star; patterns are taken as they are. */
export async function checkServedNames(client: Client, names: readonly string[]): Promise<Finding> {
  const hidden: string[] = [];
  for (const name of names.filter((one) => !one.includes('*'))) {
    const [owner = '', repo = ''] = name.split('/');
    const isFound = await client.call(operations.getRepository, { params: { owner, repo } }).then(
      () => true,
      (error: unknown) => {
        if (error instanceof ReeveError && error.status === 404) return false;
        throw error;
      },
    );
    if (!isFound) hidden.push(name);
  }
  if (hidden.length === 0) return ok(`serves ${names.join(', ')} without a star`);
  return wrong(
    `${hidden.join(', ')}: there is no such repository, or the account cannot read it`,
    'correct the name, or make the account a collaborator; write --serve OWNER/NAME',
  );
}
