import type { Format } from './conversion.ts';
import { labeler } from './formats/labeler.ts';
import { mergify } from './formats/mergify.ts';

/** Every format that can be imported. */
export const formats: readonly Format[] = [labeler, mergify];
