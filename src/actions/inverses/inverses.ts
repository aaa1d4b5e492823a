import { lackOf } from '../../client/capabilities.ts';
import { operations } from '../../contract/operations.ts';
import { clearedByAbsence, requiredFor } from '../sync-organization.ts';
import { deleted, edited, itemsOf, made, member, membersLike, paramsOf, type Row } from './forms.ts';
import { deletedHook, editedHook, madeHook, testedHook } from './hooks.ts';
import { type Inverse, isStill } from './inverse.ts';

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

const editedSetting = member(
  operations.getOrganization,
  operations.editOrganization,
  ':',
  () => clearedByAbsence,
);
const editedOrganization: Inverse = async (change, client) => {
  const live = await editedSetting(change, client);
  const required = requiredFor(change.target, change.before);
  if (required.length === 0) return live;
  const lack = lackOf(await client.capabilities(), required);
  return lack === undefined ? live : { ...live, undo: () => lack };
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
    // Who gave it stands in the change for people; the review's number decides which it is.
    value: { ...(change.after as Row), state: live.state, dismissed: live.dismissed },
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

/** What these make comes with all its members in one request, and goes with them: its first change stands for all. */
export const madeAtOnce: ReadonlySet<string> = new Set([
  operations.createBranchProtection.id,
  operations.createTagProtection.id,
]);

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
  [operations.editHook.id]: editedHook(operations.getHook, operations.editHook),
  [operations.editOrganizationHook.id]: editedHook(
    operations.getOrganizationHook,
    operations.editOrganizationHook,
  ),
  [operations.editUserHook.id]: editedHook(operations.getUserHook, operations.editUserHook),
  [operations.deleteHook.id]: deletedHook,
  [operations.deleteOrganizationHook.id]: deletedHook,
  [operations.deleteUserHook.id]: deletedHook,
  [operations.testHook.id]: testedHook,
  [operations.createPull.id]: madePull,
  [operations.editPull.id]: edited(operations.getPull, operations.editPull),
  [operations.editOrganization.id]: editedOrganization,
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
    // The forge reads what stands under pushes only beside their switch.
    (name) =>
      name.includes('force_push') ? ['enable_force_push'] : name.includes('push') ? ['enable_push'] : [],
  ),
  [operations.deleteBranchProtection.id]: deleted(
    operations.listBranchProtections,
    operations.createBranchProtection,
    ['rule_name'],
  ),
  [operations.createTagProtection.id]: made(operations.listTagProtections, operations.deleteTagProtection),
  [operations.editTagProtection.id]: member(operations.getTagProtection, operations.editTagProtection, '.'),
  [operations.deleteTagProtection.id]: deleted(
    operations.listTagProtections,
    operations.createTagProtection,
    ['name_pattern'],
  ),
};
