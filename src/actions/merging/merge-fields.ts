import { z } from 'zod';
import { forgeText } from '../action.ts';
import { mergeMethods } from './method.ts';

/** What an action that merges asks for: how, and with which commit message. */
export const mergeFields = {
  method: z
    .enum(mergeMethods)
    .optional()
    .meta({ description: 'How to merge; default: the default of the repository.' }),
  title: forgeText({ commit: true })
    .min(1)
    .max(255)
    .optional()
    .meta({ description: 'First line of the commit message; default: that of the forge.' }),
  message: forgeText({ lines: true, commit: true })
    .max(60_000)
    .optional()
    .meta({ description: 'Rest of the commit message.' }),
};
