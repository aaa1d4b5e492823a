import { verify } from '@octokit/webhooks-methods';
import fastify from 'fastify';
import ky from 'ky';
import { answerQuestions, processorMs } from '../process.ts';

/**
 * Bot such as a person would write for one label without Reeve: verifies the signature, responds, reads the labels of
 * the issue, and sets them with one more. It stores nothing, so an event is lost if the process or the forge fails.
 */
const [forgeUrl = '', token = '', secret = ''] = process.argv.slice(2);
const forge = ky.create({ prefix: `${forgeUrl}/api/v1`, headers: { authorization: `Bearer ${token}` } });

type Issue = { number: number; title: string; labels: { name: string }[] };
type IssueEvent = { action: string; issue: Issue; repository: { full_name: string } };

async function triage({ action, issue, repository }: IssueEvent): Promise<void> {
  if (action !== 'opened' || issue.title.startsWith('[draft]')) return;
  const path = `repos/${repository.full_name}/issues/${issue.number}`;
  const { labels } = await forge.get(path).json<Issue>();
  const names = labels.map(({ name }) => name);
  if (names.includes('triage')) return;
  await forge.put(`${path}/labels`, { json: { labels: [...names, 'triage'] } }).json();
}

const app = fastify();
// The signature covers the bytes of the body.
app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
  done(null, body),
);
app.post<{ Body: string }>('/webhook', async ({ headers, body }, reply) => {
  if (!(await verify(secret, body, `sha256=${headers['x-gitea-signature']}`))) return reply.code(401).send();
  if (headers['x-gitea-event'] === 'issues') triage(JSON.parse(body)).catch(console.error);
  return reply.code(202).send();
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });

// Other question of the benchmark.
answerQuestions(url, { processor: processorMs });
