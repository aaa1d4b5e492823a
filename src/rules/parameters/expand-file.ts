import type { Action } from '../../actions/action.ts';
import { isRecord } from '../../contract/events/payload-members.ts';
import { type ArgumentPath, conditionsIn } from '../arguments.ts';
import type { YamlPath, YamlSource } from '../files/yaml-source.ts';
import type { ParameterValue, ParameterValues } from './declaration.ts';
import {
  type ExpandingWith,
  expandCondition,
  expandText,
  hasReference,
  unknownParameter,
  wholeReference,
} from './expand-text.ts';
import type { Expansion } from './expansion.ts';

/** Reports a problem at a value of the file, or, with offsets, inside of its text. */
type ReportExpansion = (path: YamlPath, message: string, inside?: { start: number; end: number }) => void;

type ExpandedFile = {
  readonly actions: readonly Action[];
  readonly given: ExpandingWith;
  /** Expanded texts by path. */
  readonly texts: Map<string, Expansion>;
  readonly report: ReportExpansion;
};

/** Characters that a file may have once its parameters are inserted. */
const maxExpanded = 64 * 1024;

/**
 * Returns the file with the values of its parameters in place of every `${{ params.NAME }}`, everywhere in its values but
 * in `uses`, `include` and `in`. Places of problems are still those of the text. A value that consists of one reference
 * keeps its type; in conditions values are literals. The result is bounded like a file.
 */
export function expandFile(
  file: YamlSource,
  options: {
    readonly values: ParameterValues;
    readonly isDeclared: boolean;
    readonly actions: readonly Action[];
    /** Characters of the text of the file. */
    readonly length: number;
    readonly report: ReportExpansion;
  },
): YamlSource {
  const { values, isDeclared, actions, length, report } = options;
  let left = maxExpanded - length;
  const charge = (characters: number): boolean => {
    const wasRoom = left >= 0;
    left -= characters;
    if (left < 0 && wasRoom) report([], 'with the values of its parameters the file is larger than 64 KiB');
    return left >= 0;
  };
  const texts = new Map<string, Expansion>();
  const work: ExpandedFile = { actions, given: { values, isDeclared, charge }, texts, report };
  const value = expandRoot(file.value, work);
  const inside = (path: YamlPath, offset: number): number =>
    file.inside(path, texts.get(JSON.stringify(path))?.originOf(offset) ?? offset);
  return { ...file, value, inside };
}

function expandRoot(root: unknown, work: ExpandedFile): unknown {
  if (!isRecord(root)) return root;
  return mapMembers(root, [], work, (key, member) => {
    if (key === 'params') return member;
    if (key === 'include' || key === 'in') return refuseIn(member, [key], key, work);
    if (key === 'rules' && isRecord(member)) {
      return mapMembers(member, ['rules'], work, (name, rule) => expandRule(rule, ['rules', name], work));
    }
    return expandValue(member, [key], work);
  });
}

function expandRule(rule: unknown, at: YamlPath, work: ExpandedFile): unknown {
  if (!isRecord(rule)) return expandValue(rule, at, work);
  return mapMembers(rule, at, work, (key, member) => {
    const path = [...at, key];
    if (key === 'in') return refuseIn(member, path, key, work);
    if (key === 'if') return expandValue(member, path, work, () => true);
    if (key === 'steps' && Array.isArray(member)) {
      return member.map((step, place) => expandStep(step, [...path, place], work));
    }
    if (key === 'each' && isRecord(member)) return expandEach(member, path, work);
    return expandValue(member, path, work);
  });
}

function expandEach(each: Readonly<Record<string, unknown>>, at: YamlPath, work: ExpandedFile): unknown {
  return mapMembers(each, at, work, (kind, filter) => {
    const path = [...at, kind];
    if (!isRecord(filter)) return expandValue(filter, path, work);
    return mapMembers(filter, path, work, (key, member) =>
      key === 'in' ? refuseIn(member, [...path, key], key, work) : expandValue(member, [...path, key], work),
    );
  });
}

function expandStep(step: unknown, at: YamlPath, work: ExpandedFile): unknown {
  if (!isRecord(step)) return expandValue(step, at, work);
  const action = work.actions.find(({ name }) => name === step.uses);
  return mapMembers(step, at, work, (key, member) => {
    const path = [...at, key];
    // The step says itself that `uses` takes no expression.
    if (key === 'uses') return member;
    if (key === 'if') return expandValue(member, path, work, () => true);
    if (key !== 'with' || action === undefined) return expandValue(member, path, work);
    const before = keysOf(conditionsIn(member, action.arguments), path);
    const expanded = expandValue(member, path, work, (inner) => before.has(JSON.stringify(inner)));
    // The form of the arguments may be another one now: a text that was expanded as one must not become a condition.
    for (const inner of conditionsIn(expanded, action.arguments)) {
      const place = [...path, ...inner];
      const key = JSON.stringify(place);
      if (!work.texts.has(key) || before.has(key)) continue;
      work.report(
        place,
        'no parameter can be inserted here: write the condition out, with params.NAME in it',
      );
    }
    return expanded;
  });
}

function keysOf(paths: readonly ArgumentPath[], at: YamlPath): ReadonlySet<string> {
  return new Set(paths.map((path) => JSON.stringify([...at, ...path])));
}

function expandValue(
  value: unknown,
  path: YamlPath,
  work: ExpandedFile,
  isCondition: (path: YamlPath) => boolean = () => false,
): unknown {
  if (typeof value === 'string') return expandString(value, path, work, isCondition(path));
  if (Array.isArray(value)) {
    return value.map((item, place) => expandValue(item, [...path, place], work, isCondition));
  }
  if (!isRecord(value)) return value;
  return mapMembers(value, path, work, (key, member) =>
    expandValue(member, [...path, key], work, isCondition),
  );
}

function expandString(
  text: string,
  path: YamlPath,
  work: ExpandedFile,
  isCondition: boolean,
): ParameterValue {
  if (!text.includes('params')) return text;
  const whole = isCondition ? undefined : wholeReference(text);
  if (whole !== undefined) return wholeValue(whole, path, work);
  const expanded = isCondition ? expandCondition(text, work.given) : expandText(text, work.given);
  for (const { message, start, end } of expanded.problems) work.report(path, message, { start, end });
  if (expanded.text === text) return text;
  work.texts.set(JSON.stringify(path), expanded);
  return expanded.text;
}

function wholeValue(name: string, path: YamlPath, { given, report, texts }: ExpandedFile): ParameterValue {
  const value = given.values.get(name);
  if (value === undefined) {
    report(path, unknownParameter(name, [...given.values.keys()]));
    return '';
  }
  const expanded = expandText(`\${{ params.${name} }}`, {
    ...given,
    values: new Map([[name, typeof value === 'object' ? value.join('') : value]]),
  });
  texts.set(JSON.stringify(path), expanded);
  return value;
}

/** Returns the value as it is, and reports references in it. */
function refuseIn(value: unknown, path: YamlPath, where: string, work: ExpandedFile): unknown {
  if (typeof value === 'string' && hasReference(value)) {
    work.report(path, `no parameter is inserted in "${where}": what a file reaches is written out`);
  }
  if (Array.isArray(value))
    for (const [place, item] of value.entries()) refuseIn(item, [...path, place], where, work);
  else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) refuseIn(member, [...path, key], where, work);
  }
  return value;
}

function mapMembers(
  map: Readonly<Record<string, unknown>>,
  at: YamlPath,
  work: ExpandedFile,
  change: (key: string, member: unknown) => unknown,
): Record<string, unknown> {
  const members = Object.entries(map).map(([key, member]) => {
    if (hasReference(key))
      work.report([...at, key], `no parameter is inserted in a key: "${key.slice(0, 60)}"`);
    return [key, change(key, member)] as const;
  });
  // Own members, also under the one name that assignment takes for the prototype.
  return Object.fromEntries(members);
}
