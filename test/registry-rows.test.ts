import { describe, expect, it } from 'vitest';
import { actions } from '../src/actions/actions.ts';
import { capabilityOfEvent } from '../src/client/capabilities.ts';
import { eventFamilies } from '../src/contract/events/event-families.ts';
import { hookEventNames } from '../src/contract/events/hook-events.ts';
import type { Operation } from '../src/contract/operation.ts';
import { operations } from '../src/contract/operations.ts';
import { facts } from '../src/facts/facts.ts';

const audiences = ['repository', 'subject', 'code', 'issues', 'pulls', 'administrators', 'operators'];

describe.each(facts.map((fact) => [fact.name, fact] as const))('the row of the fact %s', (_name, fact) => {
  it('has an audience no wider than that of the data in the fact', () => {
    const { visibleTo, shows, narrow, narrowsForAll } = fact;

    expect(audiences).toContain(visibleTo);
    const isWhole = narrow !== undefined && !narrowsForAll;
    if (shows === 'beyond' || isWhole) expect(visibleTo).toBe('operators');
    if (shows === 'admin') expect(['administrators', 'operators']).toContain(visibleTo);
  });

  it('has the same audience as the fact that it is a member of, because pages look up only the first word of a name', () => {
    const owner = facts.find(({ name }) => name === fact.name.split('.')[0]);

    expect(owner?.visibleTo).toBe(fact.visibleTo);
  });
});

describe.each(actions.map((action) => [action.name, action] as const))(
  'the row of the action %s',
  (_name, action) => {
    it('has an audience', () => {
      expect(audiences).toContain(action.visibleTo);
    });

    it('declares how changes are reverted', () => {
      expect(Object.keys(action.inverses)).not.toEqual([]);
      if (action.createsWhole !== undefined) expect(action.inverses).toHaveProperty([action.createsWhole]);
    });

    it('declares whether live state can be adopted', () => {
      expect(action).toHaveProperty('adoption');
      // These actions declare settings, which can be read back. The other actions write about one event.
      const declaresSettings = /^(sync|protect)-/.test(action.name);
      expect(action.adoption !== undefined).toBe(declaresSettings);
    });
  },
);

it('events that need a capability are event families, and names that hooks can list', () => {
  for (const event of Object.keys(capabilityOfEvent)) {
    expect(Object.keys(eventFamilies)).toContain(event);
    expect(hookEventNames).toContain(event);
  }
});

describe.each(Object.values(operations).map((row: Operation) => [row.id, row] as const))(
  'the row of the operation %s',
  (_id, row) => {
    it('has the target that its path contains', () => {
      expect(row.target).toMatch(targetOf(row));
    });

    it('declares the order of the archive check if and only if it can respond with 423', () => {
      expect(row.archived !== undefined).toBe(row.errors.includes(423));
    });

    it("declares the response to a token for public resources if and only if it concerns the caller's data", () => {
      expect(row.publicOnly !== undefined).toBe(/^\/(user|notifications)(\/|$)/.test(row.path));
    });

    it('names the normalization of a response that forges write differently', () => {
      const isRunner = /\/runners(\/\{runner_id\})?$/.test(row.path) && row.response !== undefined;
      const isContents = row.method === 'GET' && /\/contents/.test(row.path);
      const isCompare = /\/compare\//.test(row.path);
      const isWorkflowRun = /\/actions\/.*runs(\/\{run\})?$/.test(row.path);

      expect(row.normalize).toBe(
        isRunner
          ? 'runners'
          : isContents
            ? 'contents'
            : isCompare
              ? 'compare'
              : isWorkflowRun
                ? 'workflow-runs'
                : undefined,
      );
    });
  },
);

function targetOf({ path }: Operation): RegExp {
  if (path.includes('{owner}/{repo}'))
    return /^(repository|code|issues|pulls|issues-or-pulls|wiki|releases)$/;
  if (path.startsWith('/teams/')) return /^team$/;
  if (/^\/(admin\/)?users\/\{/.test(path)) return /^account$/;
  return /^\/orgs?\/\{org\}/.test(path) ? /^organization$/ : /^instance$/;
}
