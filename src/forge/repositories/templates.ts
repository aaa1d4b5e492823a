import { found } from '../platform/errors.ts';
import { defineHandlers } from '../platform/http/handler.ts';
import {
  findLabelSet,
  labelSetNames,
  licenseNames,
  loadGitignores,
  loadLicense,
} from './templates-service.ts';

const implementation =
  'Create a text file (typically named LICENSE or LICENSE.txt) in the root of your source code and copy the text of the license into the file';

function entryOf(name: string, rootUrl: string) {
  return { key: name, name, url: `${rootUrl}/api/v1/licenses/${encodeURIComponent(name)}` };
}

/** Handlers for the templates of new repositories. */
export const templateHandlers = defineHandlers({
  listGitignoreTemplates: async () => [...(await loadGitignores()).keys()],

  getGitignoreTemplate: async ({ params }) => ({
    name: params.name,
    source: found((await loadGitignores()).get(params.name)),
  }),

  listLabelTemplates: () => [...labelSetNames],

  getLabelTemplate: ({ params }) => [...found(findLabelSet(params.name))],

  listLicenseTemplates: ({ context }) => licenseNames.map((name) => entryOf(name, context.rootUrl())),

  async getLicenseTemplate({ params, context }) {
    const body = found(await loadLicense(params.name));
    return { ...entryOf(params.name, context.rootUrl()), implementation, body };
  },
});
