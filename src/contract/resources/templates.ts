import { z } from 'zod';
import { defineOperation } from '../operation.ts';
import { callerAs } from '../row-fields.ts';
import { flag, list, resource, text } from '../shape.ts';

const params = z.object({ name: text });
const row = { method: 'GET', ...callerAs('anyone'), scopes: [], success: 200, errors: [] } as const;
const one = { ...row, params, errors: [404] } as const;

const LicenseTemplateEntry = { key: text, name: text };

/** Names of templates for new repositories: values of `gitignores`, `license` and `issue_labels`. */
export const templateOperations = {
  listGitignoreTemplates: defineOperation({
    id: 'template.list-gitignores',
    meaning:
      'Lists the names of the gitignore templates; a name may stand for other patterns on another forge.',
    path: '/gitignore/templates',
    ...row,
    response: z.array(text),
    source: 'routers/api/v1/misc/gitignore.go ListGitignoresTemplates',
  }),
  getGitignoreTemplate: defineOperation({
    id: 'template.get-gitignore',
    meaning: 'Returns the patterns of a gitignore template.',
    path: '/gitignore/templates/{name}',
    ...one,
    response: resource({ name: text }, { source: text }),
    source: 'routers/api/v1/misc/gitignore.go GetGitignoreTemplateInfo',
  }),
  listLabelTemplates: defineOperation({
    id: 'template.list-label-sets',
    meaning: 'Lists the names of the sets of labels.',
    path: '/label/templates',
    ...row,
    response: z.array(text),
    source: 'routers/api/v1/misc/label_templates.go ListLabelTemplates',
  }),
  getLabelTemplate: defineOperation({
    id: 'template.get-label-set',
    meaning: 'Returns the labels of a set.',
    path: '/label/templates/{name}',
    ...one,
    response: list(resource({ name: text }, { exclusive: flag, color: text, description: text })),
    source: 'routers/api/v1/misc/label_templates.go GetLabelTemplate',
  }),
  listLicenseTemplates: defineOperation({
    id: 'template.list-licenses',
    meaning: 'Lists the licences that a new repository may have.',
    path: '/licenses',
    ...row,
    response: list(resource(LicenseTemplateEntry, { url: text })),
    source: 'routers/api/v1/misc/licenses.go ListLicenseTemplates',
  }),
  getLicenseTemplate: defineOperation({
    id: 'template.get-license',
    meaning: 'Returns the text of a licence, with placeholders for year and owner.',
    path: '/licenses/{name}',
    ...one,
    response: resource(LicenseTemplateEntry, { url: text, implementation: text, body: text }),
    source: 'routers/api/v1/misc/licenses.go GetLicenseTemplateInfo',
  }),
} as const;
