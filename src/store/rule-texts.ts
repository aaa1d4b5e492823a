import type { RuleTexts } from '../rules/sources/last-valid.ts';
import { now, type Sql, type Statement } from './sql.ts';

/** Maximum number and total size, in characters, of all texts. Those that were stored longest ago are deleted first. */
export const ruleTextLimits = { count: 10_000, size: 64 * 1024 * 1024 };

/** Texts that were not stored again for this long belong to locations that are no longer read. */
const keptMs = 365 * 86_400_000;

/** Returns the part of the store that keeps the last valid texts of rule files. */
export function createRuleTexts(
  sql: Sql,
  limits: { readonly count: number; readonly size: number },
): RuleTexts {
  return {
    async listRuleTexts(place) {
      const rows = await sql.all(
        'SELECT path, commit_id, at, content FROM rule_texts WHERE place = ? ORDER BY path',
        [{ indexed: place }],
      );
      return rows.map(({ path, commit_id: commit, at, content }) => ({
        path: String(path),
        commit: String(commit),
        at: new Date(String(at)),
        content: String(content),
      }));
    },
    async storeRuleTexts(place, { kept, gone }) {
      // Sorted by key, so that two processes that store the same texts do not deadlock.
      const sorted = kept.toSorted((a, b) => (a.path < b.path ? -1 : 1));
      await sql.batch([
        ...gone.toSorted().map((path) => ({
          sql: 'DELETE FROM rule_texts WHERE place = ? AND path = ?',
          values: [{ indexed: place }, { indexed: path }],
        })),
        ...sorted.map(({ path, commit, content }) => ({
          sql: `INSERT INTO rule_texts (place, path, commit_id, at, size, content) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (place, path) DO UPDATE SET commit_id = excluded.commit_id, at = excluded.at,
                  size = excluded.size, content = excluded.content`,
          values: [{ indexed: place }, { indexed: path }, commit, now, content.length, content],
        })),
        ...(kept.length === 0 ? [] : [deleteBeyond(limits)]),
      ]);
    },
  };
}

function deleteBeyond({ count, size }: { readonly count: number; readonly size: number }): Statement {
  return {
    sql: `DELETE FROM rule_texts WHERE (place, path) IN
            (SELECT place, path FROM
              (SELECT place, path, row_number() OVER newest AS number, sum(size) OVER newest AS total FROM rule_texts
               WHERE place NOT LIKE 'operator %' WINDOW newest AS (ORDER BY at DESC, place, path)) AS aged
             WHERE number > ? OR total > ?)`,
    values: [count, size],
  };
}

/**
 * Returns the statement that deletes the texts of locations that are no longer read. The folder of the operator is read
 * only when it changes.
 */
export function deleteOldRuleTexts(): Statement {
  return {
    sql: "DELETE FROM rule_texts WHERE at < ? AND place NOT LIKE 'operator %'",
    values: [{ fromNowMs: -keptMs }],
  };
}
