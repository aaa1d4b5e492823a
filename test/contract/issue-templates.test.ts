import { beforeAll, describe, expect, it } from 'vitest';
import { type Account, describeContract } from '../support/contract-forge.ts';
import { makeSharedRepository } from '../support/shared-repository.ts';

const bug = `name: Bug
description: Something is wrong
title: "[Bug] "
labels: bug, triage,,
assignees: [ada, ben]
ref: main
body:
  - type: markdown
    attributes:
      value: Thank you
  - type: textarea
    id: what
    attributes:
      label: What
      render: bash
    validations:
      required: true
  - type: dropdown
    attributes:
      label: Where
      options: [here, there]
      default: 1
      multiple: true
  - type: checkboxes
    id: terms
    attributes:
      label: Terms
      options:
        - label: I agree
          required: true
        - label: Hidden
          visible: [content]
  - type: input
    id: number
    visible: [form]
    attributes:
      label: Number
    validations:
      is_number: true
      regex: "[0-9]+"
`;

const form = (field: string) => `name: Form\nabout: A form\nbody:\n  - ${field.replaceAll('\n', '\n    ')}\n`;

/** Invalid templates, keyed by their error message. */
const mistakes: Readonly<Record<string, string>> = {
  'no-name': 'about: x\nbody:\n  - type: markdown\n    attributes: {value: x}\n',
  'no-about': 'name: x\nbody:\n  - type: markdown\n    attributes: {value: x}\n',
  'no-body': 'name: x\nabout: y\n',
  'no-yaml': 'name: [x\n',
  'no-map': '- a\n- b\n',
  'unknown-type': form('type: slider\nattributes: {label: x}'),
  'no-label': form('type: input\nattributes: {}'),
  'no-value': form('type: markdown\nattributes: {value: " "}'),
  'bad-id': form('type: input\nid: a b\nattributes: {label: x}'),
  'same-id': `${form('type: input\nid: a\nattributes: {label: x}')}  - {type: input, id: a, attributes: {label: y}}\n`,
  'no-options': form('type: dropdown\nattributes: {label: x, options: []}'),
  'far-default': form('type: dropdown\nattributes: {label: x, options: [a], default: 1}'),
  'number-option': form('type: dropdown\nattributes: {label: x, options: [1]}'),
  'text-box': form('type: checkboxes\nattributes: {label: x, options: [a]}'),
  'hidden-need': form(
    'type: input\nvisible: [content]\nattributes: {label: x}\nvalidations: {required: true}',
  ),
  'text-flag': form('type: input\nattributes: {label: x}\nvalidations: {required: "yes"}'),
};

describeContract('issue templates', (forge) => {
  let ada: Account;
  beforeAll(async () => {
    ada = await forge.makeUser();
  });

  async function makeWith(files: Readonly<Record<string, string>>): Promise<string> {
    const repository = await forge.makeRepository(ada, { auto_init: true });
    const changes = Object.entries(files).map(([path, text]) => ({
      operation: 'create',
      path,
      content: Buffer.from(text).toString('base64'),
    }));
    const body = { message: 'add', files: changes };
    const { status } = await forge.ask('POST', `/repos/${repository}/contents`, { as: ada, body });
    expect(status).toBe(201);
    return repository;
  }
  const read = (repository: string, path = 'issue_templates') =>
    forge.ask('GET', `/repos/${repository}/${path}`);

  it('are forms and Markdown files of the default branch, in the order of their folders', async () => {
    const repository = await makeWith({
      '.gitea/ISSUE_TEMPLATE/bug.yaml': bug,
      '.gitea/ISSUE_TEMPLATE/config.yml': 'blank_issues_enabled: false\n',
      '.gitea/ISSUE_TEMPLATE/notes.txt': 'no template',
      '.github/issue_template/idea.md':
        '---\nname: Idea\nabout: What could be\nlabels: [idea]\nref: refs/tags/v1\n---\nTell us.\n',
      'ISSUE_TEMPLATE/plain.md': `# Title\n${'words '.repeat(20)}\n`,
    });
    const { status, json, headers } = await read(repository);

    expect([status, headers.get('x-gitea-warning')]).toEqual([200, null]);
    const [plain, form, idea, ...others] = json;
    expect(others).toEqual([]);
    expect(plain).toEqual({
      name: 'plain.md',
      title: '',
      about: `# Title\n${'words '.repeat(20)}`.slice(0, 77).concat('…'),
      labels: null,
      assignees: null,
      ref: 'refs/heads/',
      content: `# Title\n${'words '.repeat(20)}\n`,
      body: null,
      file_name: 'ISSUE_TEMPLATE/plain.md',
    });
    expect(idea).toEqual({
      name: 'Idea',
      title: '',
      about: 'What could be',
      labels: ['idea'],
      assignees: null,
      ref: 'refs/tags/v1',
      content: 'Tell us.\n',
      body: null,
      file_name: '.github/issue_template/idea.md',
    });
    expect(form).toMatchObject({
      name: 'Bug',
      title: '[Bug] ',
      about: 'Something is wrong',
      labels: ['bug', 'triage'],
      assignees: ['ada', 'ben'],
      ref: 'refs/heads/main',
      content: '',
      file_name: '.gitea/ISSUE_TEMPLATE/bug.yaml',
    });
    expect(form.body).toEqual([
      {
        type: 'markdown',
        id: '0',
        attributes: { value: 'Thank you' },
        validations: null,
        visible: ['form'],
      },
      {
        type: 'textarea',
        id: 'what',
        attributes: { label: 'What', render: 'bash' },
        validations: { required: true },
        visible: ['form', 'content'],
      },
      {
        type: 'dropdown',
        id: '2',
        attributes: { label: 'Where', options: ['here', 'there'], default: 1, multiple: true },
        validations: null,
        visible: ['form', 'content'],
      },
      {
        type: 'checkboxes',
        id: 'terms',
        attributes: {
          label: 'Terms',
          options: [
            { label: 'I agree', required: true },
            { label: 'Hidden', visible: ['content'] },
          ],
        },
        validations: null,
        visible: ['form', 'content'],
      },
      {
        type: 'input',
        id: 'number',
        attributes: { label: 'Number' },
        validations: { is_number: true, regex: '[0-9]+' },
        visible: ['form'],
      },
    ]);
  });

  it('are omitted but counted if they are invalid', async () => {
    const files = Object.entries(mistakes).map(([name, text]) => [`.gitea/issue_template/${name}.yml`, text]);
    const repository = await makeWith({
      ...Object.fromEntries(files),
      '.gitea/issue_template/right.yml': bug,
    });
    const { json, headers } = await read(repository);

    expect(json.map(({ file_name }: { file_name: string }) => file_name)).toEqual([
      '.gitea/issue_template/right.yml',
    ]);
    expect(headers.get('x-gitea-warning')).toContain(`count=${files.length}`);
  });

  it('are null if there are none', async () => {
    const empty = await forge.makeRepository(ada);
    const without = await makeWith({ 'a.md': 'a' });

    for (const repository of [empty, without]) {
      expect((await read(repository)).json).toBeNull();
      expect((await read(repository, 'issue_config')).json).toEqual({
        blank_issues_enabled: true,
        contact_links: [],
      });
      expect((await read(repository, 'issue_config/validate')).json).toEqual({ valid: true, message: '' });
    }
  });

  it('require read access to the code', async () => {
    const shared = await makeSharedRepository(forge);
    for (const path of ['/issue_templates', '/issue_config', '/issue_config/validate'])
      expect(await shared.statuses('GET', path)).toEqual([200, 200, 200, 404, 404]);
  });

  describe('with a configuration', () => {
    it('use the first configuration file', async () => {
      const link = { name: 'Chat', url: 'https://chat.example.org/a?b', about: 'Ask here' };
      const repository = await makeWith({
        '.gitea/issue_template/config.yaml': `blank_issues_enabled: false\ncontact_links:\n  - ${JSON.stringify(link)}\n`,
        '.github/ISSUE_TEMPLATE/config.yml': 'contact_links: [',
      });

      expect((await read(repository, 'issue_config')).json).toEqual({
        blank_issues_enabled: false,
        contact_links: [link],
      });
      expect((await read(repository, 'issue_config/validate')).json).toEqual({ valid: true, message: '' });
    });

    it.each([
      ['contact_links: [{name: a, url: "b c", about: d}]', 'b c is not a valid URL'],
      ['blank_issues_enabled: [', ''],
    ])('report an error in: %s', async (text, message) => {
      const repository = await makeWith({ '.github/ISSUE_TEMPLATE/config.yml': `${text}\n` });
      const config = await read(repository, 'issue_config');
      const { json } = await read(repository, 'issue_config/validate');

      expect(config.json).toEqual({ blank_issues_enabled: true, contact_links: [] });
      expect([json.valid, json.message]).toEqual([false, message || expect.stringMatching(/./)]);
    });
  });
});
