import { isRecord } from '../../contract/events/payload-members.ts';

/** One field of a form as the file says it, with the defaults filled in. */
export type FormField = {
  readonly type: string;
  readonly id: string;
  readonly attributes: Readonly<Record<string, unknown>> | null;
  readonly validations: Readonly<Record<string, unknown>> | null;
  readonly visible: readonly string[];
};

type FormMembers = Readonly<Record<string, unknown>> | null;

/** Tells whether members are texts where they are there. The first that is missing ends the check, as on the baseline. */
function areTexts(members: FormMembers, names: readonly string[], isRequired = false): boolean {
  for (const name of names) {
    const value = members?.[name];
    if (value === undefined) return !isRequired;
    if (typeof value !== 'string') return false;
    if (isRequired && value.trim() === '') return false;
  }
  return true;
}

/** As `areTexts`, for booleans. */
function areFlags(members: FormMembers, names: readonly string[]): boolean {
  for (const name of names) {
    const value = members?.[name];
    if (value === undefined) return true;
    if (typeof value !== 'boolean') return false;
  }
  return true;
}

function isDefaultOption({ attributes }: FormField): boolean {
  const chosen = attributes?.default;
  if (chosen === undefined) return true;
  const options = attributes?.options;
  const count = Array.isArray(options) ? options.length : 0;
  return Number.isInteger(chosen) && (chosen as number) >= 0 && (chosen as number) < count;
}

function isCheckbox(option: unknown): boolean {
  if (!isRecord(option) || typeof option.label !== 'string' || option.label === '') return false;
  const { visible, required } = option;
  const places: unknown[] | undefined = Array.isArray(visible) ? visible : undefined;
  if (visible !== undefined && !places) return false;
  if (places?.some((place) => place !== 'form' && place !== 'content')) return false;
  if (required !== undefined && typeof required !== 'boolean') return false;
  // Presence counts: the baseline refuses `required: false` of a hidden checkbox as well.
  return required === undefined || places === undefined || places.includes('form');
}

function hasOptions({ attributes }: FormField, isOption: (option: unknown) => boolean): boolean {
  const options: unknown = attributes?.options;
  return Array.isArray(options) && options.length > 0 && options.every(isOption);
}

const texts = ['description', 'placeholder', 'value'];

/** The rules of each kind of field. */
const kinds: Readonly<Record<string, (field: FormField) => boolean>> = {
  markdown: ({ attributes }) => areTexts(attributes, ['value'], true),
  textarea: ({ attributes }) => areTexts(attributes, [...texts, 'render']),
  input: ({ attributes, validations }) =>
    areTexts(attributes, texts) && areFlags(validations, ['is_number']) && areTexts(validations, ['regex']),
  dropdown: (field) =>
    areTexts(field.attributes, ['description']) &&
    areFlags(field.attributes, ['multiple']) &&
    areFlags(field.attributes, ['list']) &&
    hasOptions(field, (option) => typeof option === 'string') &&
    isDefaultOption(field),
  checkboxes: (field) => areTexts(field.attributes, ['description']) && hasOptions(field, isCheckbox),
};

function isField(field: FormField, ids: Set<string>): boolean {
  const rule = Object.hasOwn(kinds, field.type) ? kinds[field.type] : undefined;
  if (rule === undefined) return false;
  if (field.type === 'markdown') return rule(field);
  if (!/^[\w-]+$/.test(field.id) || ids.has(field.id)) return false;
  ids.add(field.id);
  if (!areTexts(field.attributes, ['label'], true) || !rule(field)) return false;
  if (field.type === 'checkboxes') return true;
  if (!areFlags(field.validations, ['required'])) return false;
  return field.validations?.required !== true || field.visible.length === 0 || field.visible.includes('form');
}

/** Tells whether the fields of a form keep the rules: known kinds, unique ids, options where they are needed. */
export function isForm(fields: readonly FormField[]): boolean {
  const ids = new Set<string>();
  return fields.length > 0 && fields.every((field) => isField(field, ids));
}
