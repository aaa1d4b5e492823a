import { fileURLToPath } from 'node:url';

/** The file that Neovim opens in its session: its problems are in `on` and in `if`. */
export const neovimText = `version: 1
conditions:
  green: passed("ci/*")
rules:
  a:
    on: { pull_request: [openned] }
    if: pull_requst.draft
    steps:
      - uses: set-labels
        with: { add: [bug] }
`;

/** Messages of Neovim 0.7.2 in its session, one in a line; `/FOLDER` stands for the folder. */
export const recordedSession = fileURLToPath(new URL('../../fixtures/neovim-0.7.2.jsonl', import.meta.url));
