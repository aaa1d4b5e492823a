import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { messageOf } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { createLingering } from './linger.ts';
import { type ReceiverAnswer, toRefusal } from './refusal.ts';

/** The answers of the receiver, which fastify does not send. */
export interface ReceiverAnswers {
  /** Sends an answer of JSON. */
  send(
    response: ServerResponse,
    status: number,
    json: string,
    headers?: Readonly<Record<string, string>>,
  ): void;
  /** Logs, counts and sends the refusal for what a guard, the body or the store threw. */
  refuse(request: FastifyRequest, response: ServerResponse, error: unknown): void;
}

/** Creates the answers for requests of this server. */
export function createAnswers(
  app: FastifyInstance,
  options: { readonly log: Log; readonly onAnswer: (status: number, reason: ReceiverAnswer) => void },
): ReceiverAnswers {
  const { log, onAnswer } = options;
  const lingering = createLingering();
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
    lingering.end();
  });

  const send: ReceiverAnswers['send'] = (response, status, json, headers) => {
    // A connection that is kept alive after its answer would hold the stop.
    if (isClosing) response.shouldKeepAlive = false;
    response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
      ...headers,
    });
    // Ids are digits: as Latin-1 they leave without a second look at each character, which costs at the rate of deliveries.
    response.end(json, status < 300 ? 'latin1' : 'utf8');
  };

  return {
    send,
    refuse(request, response, error) {
      const refusal = toRefusal(error);
      if (refusal.status >= 500 && refusal.answer !== 'slow')
        log.error({ error: messageOf(error) }, 'could not accept a delivery');
      else if (refusal.answer === 'probe') {
        log.info({ address: request.ip }, 'setup or doctor asked whether these secrets are known here');
      } else if (refusal.answer !== 'unauthorized' && refusal.answer !== 'throttled') {
        log.warn({ address: request.ip, status: refusal.status }, `refused a delivery: ${refusal.message}`);
      }
      onAnswer(refusal.status, refusal.answer);
      lingering.add(request.raw);
      send(response, refusal.status, JSON.stringify({ message: refusal.message }), refusal.headers);
    },
  };
}
