import { expect, it } from 'vitest';
import { parseIssueConfig, parseTemplate } from '../../../src/forge/issues/issue-templates.ts';

it.each([
  ['contact_links: [{url: /a, about: b}]', 'contact_link at position 1 is missing name key'],
  ['contact_links: [{name: a, about: b}]', 'contact_link at position 1 is missing url key'],
  ['contact_links: [{name: a, url: /b}]', 'contact_link at position 1 is missing about key'],
  ['contact_links: [{name: a, url: "b c", about: d}]', 'b c is not a valid URL'],
  ['contact_links: [{name: a, url: "/b\\tc", about: d}]', 'is not a valid URL'],
  ['contact_links: [{name: [a], url: /b, about: d}]', 'contact_links.0.name is not text'],
  ['contact_links: no list', 'contact_links is not a list'],
  ['contact_links: [1]', 'contact_link at position 1 is not a map'],
  ['blank_issues_enabled: maybe', 'blank_issues_enabled is not a boolean'],
  ['- a', 'the file is not a map'],
])('a configuration has an error: %s', (text, message) => {
  expect(() => parseIssueConfig(text)).toThrow(message);
});

it('an empty configuration is the default', () => {
  expect(parseIssueConfig('')).toEqual({ blank_issues_enabled: true, contact_links: [] });
});

it('numbers in a template keep their text from the file', () => {
  const text = '---\nname: 0x10\nabout: 1.50\nlabels: [1, yes]\n---\n';

  expect(parseTemplate('a.md', text)).toMatchObject({ name: '0x10', about: '1.50', labels: ['1', 'yes'] });
});

it('aliases that expand a million times are refused', () => {
  const line = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join(', ')}]\n`;
  const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const text = names.map((name, at) => line(name, at === 0 ? '1' : `*${names[at - 1]}`)).join('');

  expect(() => parseIssueConfig(text)).toThrow('the aliases in the file expand to too many values');
});
