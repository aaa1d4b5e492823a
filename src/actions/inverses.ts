import type { Client } from '../client/client.ts';
import type { AnyInput, Operation } from '../contract/operation.ts';
import { operations } from '../contract/operations.ts';
import { madeHook } from './hook-inverse.ts';
import { type DoneChange, type Inverse, isStill } from './inverse.ts';

type Row = Readonly<Record<string, unknown>>;

/** Returns the items of a list, all pages. The rows are known at run time only, so their items are plain objects here. */
async function itemsOf(client: Client, operation: Operation, input: AnyInput): Promise<readonly Row[]> {
  const found: Row[] = [];
  for await (const item of client.items(operation, input as never)) found.push(item as Row);
  return found;
}

function paramsOf(change: DoneChange): Row {
  return change.input.params ?? {};
}

/** Returns the members of a thing that the change's state speaks of, read as that spells them. */
function membersLike(state: unknown, live: Row): Row {
  const names = typeof state === 'object' && state !== null ? Object.keys(state) : [];
  return Object.fromEntries(names.map((name) => [name, plain(name, live[name])]));
}

/** Forges write colors with or without their sign, and null for an empty text. */
function plain(name: string, value: unknown): unknown {
  if (name === 'color' && typeof value === 'string') return value.replace('#', '').toLowerCase();
  return value;
}

/** What was made is deleted again; it is found by what it was made to be. */
function made(list: Operation, remove: Operation, key = 'id', name: string = key): Inverse {
  return async (change, client) => {
    const items = await itemsOf(client, list, { params: paramsOf(change) });
    const found = items.filter((item) => isStill(change.after, membersLike(change.after, item)));
    const [only] = found;
    if (found.length > 1) return { value: change.after, undo: () => 'there are several like it now' };
    return {
      value: only === undefined ? null : change.after,
      undo: () => ({ operation: remove, input: { params: { ...paramsOf(change), [name]: only?.[key] } } }),
    };
  };
}

/** What was edited is edited back to the members it had. */
function edited(get: Operation, edit: Operation): Inverse {
  return async (change, client) => {
    const live = (await client.send(get, { params: paramsOf(change) })) as Row;
    return {
      value: membersLike(change.after, live),
      undo: () => ({ operation: edit, input: { params: paramsOf(change), body: change.before } }),
    };
  };
}

/** What was deleted is made again, with another id; it must not be there meanwhile. */
function deleted(list: Operation, create: Operation, names: readonly string[]): Inverse {
  return async (change, client) => {
    const { id: _id, name: _name, ...where } = paramsOf(change);
    const before = change.before as Row;
    const items = await itemsOf(client, list, { params: where });
    const taken = items.some((item) =>
      names.some((name) => before[name] !== undefined && item[name] === before[name]),
    );
    return {
      value: taken ? before : null,
      undo: () => ({ operation: create, input: { params: where, body: before } }),
    };
  };
}

/** One member of a thing of which each change decides one: the name stands behind the last sign of the target. */
function member(get: Operation, edit: Operation, sign: string): Inverse {
  return async (change, client) => {
    const name = change.target.slice(change.target.lastIndexOf(sign) + 1);
    const live = (await client.send(get, { params: paramsOf(change) })) as Row;
    return {
      value: live[name],
      undo: () => ({ operation: edit, input: { params: paramsOf(change), body: { [name]: change.before } } }),
    };
  };
}

const issueLabel: Inverse = async (change, client) => {
  const params = paramsOf(change);
  const name = change.target.slice('label:'.length);
  const labels = await itemsOf(client, operations.listIssueLabels, { params });
  const label = labels.find((one) => one.name === name);
  return {
    value: label !== undefined,
    undo: () =>
      label === undefined
        ? { operation: operations.addIssueLabels, input: { params, body: { labels: [name] } } }
        : { operation: operations.removeIssueLabel, input: { params: { ...params, id: label.id } } },
  };
};

const madeComment: Inverse = async (change, client) => {
  const params = paramsOf(change);
  const found = (await itemsOf(client, operations.listComments, { params })).find(
    ({ body }) => body === change.after,
  );
  const { index: _index, ...where } = params;
  return {
    value: found === undefined ? null : change.after,
    undo: () => ({ operation: operations.deleteComment, input: { params: { ...where, id: found?.id } } }),
  };
};

const editedComment: Inverse = async (change, client) => {
  const live = (await client.send(operations.getComment, { params: paramsOf(change) })) as Row;
  const input = { params: paramsOf(change), body: { body: change.before } };
  return { value: live.body, undo: () => ({ operation: operations.editComment, input }) };
};

const madeIssue: Inverse = async (change, client) => {
  const params = paramsOf(change);
  const open = await itemsOf(client, operations.listIssues, {
    params,
    query: { state: 'open', type: 'issues' },
  });
  const found = open.find((issue) => isStill(change.after, membersLike(change.after, issue)));
  return {
    value: found === undefined ? null : change.after,
    // An issue is no administrator's to delete through this account: it is closed.
    undo: () => ({
      operation: operations.editIssue,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};

const status: Inverse = async (change, client) => {
  const params = paramsOf(change);
  const name = change.target.slice('status:'.length);
  const all = await itemsOf(client, operations.listStatuses, { params });
  const newest = all
    .filter(({ context }) => context === name)
    .toSorted((a, b) => Number(b.id) - Number(a.id))[0];
  const { status: state, description, target_url } = newest ?? {};
  return {
    value:
      newest === undefined ? null : { state, description: description ?? '', target_url: target_url ?? '' },
    undo: () =>
      change.before === null
        ? 'a status cannot be taken back, and there was none before'
        : {
            operation: operations.createStatus,
            input: { params, body: { context: name, ...(change.before as Row) } },
          },
  };
};

const dismissal: Inverse = async (change, client) => {
  const live = (await client.send(operations.getReview, { params: paramsOf(change) })) as Row;
  return {
    value: membersLike({ dismissed: true }, live),
    undo: () => ({ operation: operations.undismissReview, input: { params: paramsOf(change) } }),
  };
};

const notification: Inverse = async (change, client) => {
  const live = (await client.send(operations.getNotification, { params: paramsOf(change) })) as Row;
  const value = live.pinned ? 'pinned' : live.unread ? 'unread' : 'read';
  const input = { params: paramsOf(change), query: { 'to-status': change.before } };
  return { value, undo: () => ({ operation: operations.markNotification, input }) };
};

const madePull: Inverse = async (change, client) => {
  const { head, base } = (change.input.body ?? {}) as Row;
  const params = paramsOf(change);
  const open = await itemsOf(client, operations.listPulls, { params, query: { state: 'open' } });
  const found = open.find(
    (pull) => (pull.head as Row | null)?.ref === head && (pull.base as Row | null)?.ref === base,
  );
  return {
    value: found === undefined ? null : change.after,
    undo: () => ({
      operation: operations.editPull,
      input: { params: { ...params, index: found?.number }, body: { state: 'closed' } },
    }),
  };
};

/** How the changes of each operation are taken back. An operation that is not here cannot be. */
export const inverses: Readonly<Record<string, Inverse>> = {
  [operations.replaceIssueLabels.id]: issueLabel,
  [operations.createLabel.id]: made(operations.listLabels, operations.deleteLabel),
  [operations.editLabel.id]: edited(operations.getLabel, operations.editLabel),
  [operations.deleteLabel.id]: deleted(operations.listLabels, operations.createLabel, ['name']),
  [operations.createOrganizationLabel.id]: made(
    operations.listOrganizationLabels,
    operations.deleteOrganizationLabel,
  ),
  [operations.editOrganizationLabel.id]: edited(
    operations.getOrganizationLabel,
    operations.editOrganizationLabel,
  ),
  [operations.deleteOrganizationLabel.id]: deleted(
    operations.listOrganizationLabels,
    operations.createOrganizationLabel,
    ['name'],
  ),
  [operations.createComment.id]: madeComment,
  [operations.editComment.id]: editedComment,
  [operations.deleteComment.id]: async () => ({
    value: null,
    undo: () => 'a comment that was deleted cannot be written in its old place',
  }),
  [operations.createIssue.id]: madeIssue,
  [operations.editIssue.id]: edited(operations.getIssue, operations.editIssue),
  [operations.createStatus.id]: status,
  [operations.dismissReview.id]: dismissal,
  [operations.markNotification.id]: notification,
  [operations.createHook.id]: madeHook(operations.listHooks, operations.deleteHook),
  [operations.createOrganizationHook.id]: madeHook(
    operations.listOrganizationHooks,
    operations.deleteOrganizationHook,
  ),
  [operations.createUserHook.id]: madeHook(operations.listUserHooks, operations.deleteUserHook),
  [operations.createPull.id]: madePull,
  [operations.editOrganization.id]: member(operations.getOrganization, operations.editOrganization, ':'),
  [operations.createBranchProtection.id]: made(
    operations.listBranchProtections,
    operations.deleteBranchProtection,
    'rule_name',
    'name',
  ),
  [operations.editBranchProtection.id]: member(
    operations.getBranchProtection,
    operations.editBranchProtection,
    '.',
  ),
  [operations.deleteBranchProtection.id]: deleted(
    operations.listBranchProtections,
    operations.createBranchProtection,
    ['rule_name'],
  ),
  [operations.createTagProtection.id]: made(operations.listTagProtections, operations.deleteTagProtection),
  [operations.editTagProtection.id]: edited(operations.getTagProtection, operations.editTagProtection),
  [operations.deleteTagProtection.id]: deleted(
    operations.listTagProtections,
    operations.createTagProtection,
    ['name_pattern'],
  ),
};
