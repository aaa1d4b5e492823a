import type { ForgeContext } from '../platform/context.ts';
import { ForgeProblem, found } from '../platform/errors.ts';
import { defineHandlers, type Reply } from '../platform/http/handler.ts';
import type { PageRange } from '../platform/paging.ts';
import { assertActionName, holders, type NamedHolder, toStoredDescription } from './workflows-service.ts';

const longestValue = 65_536;

type VariableRow = {
  readonly id: number;
  readonly repo_id: number | null;
  readonly owner_id: number | null;
  readonly name: string;
  readonly value: string;
  readonly description: string;
};
type VariableListing = { readonly context: ForgeContext; readonly page: PageRange; readonly reply: Reply };
type VariableNaming = { readonly context: ForgeContext; readonly params: { readonly variablename: string } };
type VariableValue = { readonly value: string; readonly description?: string | undefined };

function toVariable({ repo_id, owner_id, name, value, description }: VariableRow) {
  return { owner_id: owner_id ?? 0, repo_id: repo_id ?? 0, name, data: value, description };
}

function listVariables({ context, page, reply }: VariableListing, { column, id }: NamedHolder) {
  const { db } = context;
  const from = `FROM action_variables WHERE ${column} = ?`;
  reply.total(db.get<{ count: number }>(`SELECT count(*) AS count ${from}`, id)?.count ?? 0);
  return db
    .all<VariableRow>(`SELECT * ${from} ORDER BY name LIMIT ? OFFSET ?`, id, page.limit, page.offset)
    .map(toVariable);
}

function findVariable({ db }: ForgeContext, { column, id }: NamedHolder, name: string) {
  const sql = `SELECT * FROM action_variables WHERE ${column} = ? AND name = ?`;
  return db.get<VariableRow>(sql, id, name.toUpperCase());
}

function getVariable({ context, params }: VariableNaming, holder: NamedHolder): VariableRow {
  return found(findVariable(context, holder, params.variablename), 'variable not found');
}

/** Returns a value as stored: every line ends with a single line feed. */
function toStoredValue(value: string): string {
  const text = value.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  if (text.length > longestValue && [...text].length > longestValue)
    throw new ForgeProblem(400, 'data too long');
  return text;
}

function createVariable(
  call: VariableNaming & { readonly body: VariableValue },
  holder: NamedHolder,
): undefined {
  const { context, params, body } = call;
  const name = params.variablename;
  if (findVariable(context, holder, name)) throw new ForgeProblem(409, 'variable name already exists');
  assertActionName(name);
  context.db.run(
    `INSERT INTO action_variables (${holder.column}, name, value, description) VALUES (?, ?, ?, ?)`,
    holder.id,
    name.toUpperCase(),
    toStoredValue(body.value),
    toStoredDescription(body.description),
  );
}

function editVariable(
  call: VariableNaming & { readonly body: VariableValue & { readonly name?: string | undefined } },
  holder: NamedHolder,
): undefined {
  const { context, params, body } = call;
  const variable = getVariable(call, holder);
  const name = body.name || params.variablename;
  assertActionName(name);
  const value = toStoredValue(body.value);
  const taken = findVariable(context, holder, name);
  // Gitea responds with 500 here.
  if (taken && taken.id !== variable.id) throw new ForgeProblem(409, 'variable name already exists');
  context.db.run(
    'UPDATE action_variables SET name = ?, value = ?, description = ? WHERE id = ?',
    name.toUpperCase(),
    value,
    toStoredDescription(body.description),
    variable.id,
  );
}

function deleteVariable(call: VariableNaming, holder: NamedHolder): undefined {
  call.context.db.run('DELETE FROM action_variables WHERE id = ?', getVariable(call, holder).id);
}

/** Handlers for Actions variables. */
export const variableHandlers = defineHandlers({
  listOrganizationVariables: (call) => listVariables(call, holders.organization(call)),
  getOrganizationVariable: (call) => toVariable(getVariable(call, holders.organization(call))),
  createOrganizationVariable: (call) => createVariable(call, holders.organization(call)),
  editOrganizationVariable: (call) => editVariable(call, holders.organization(call)),
  deleteOrganizationVariable: (call) => deleteVariable(call, holders.organization(call)),
  listRepositoryVariables: (call) => listVariables(call, holders.repository(call)),
  getRepositoryVariable: (call) => toVariable(getVariable(call, holders.repository(call))),
  createRepositoryVariable: (call) => createVariable(call, holders.repository(call)),
  editRepositoryVariable: (call) => editVariable(call, holders.repository(call)),
  deleteRepositoryVariable: (call) => deleteVariable(call, holders.repository(call)),
  listUserVariables: (call) => listVariables(call, holders.caller(call)),
  getUserVariable: (call) => toVariable(getVariable(call, holders.caller(call))),
  createUserVariable: (call) => createVariable(call, holders.caller(call)),
  editUserVariable: (call) => editVariable(call, holders.caller(call)),
  deleteUserVariable: (call) => deleteVariable(call, holders.caller(call)),
});
