import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';

/**
 * Fields that our manifests use, as the Kubernetes API defines them. Kubernetes would ignore or refuse a misspelt or
 * misplaced field. Source: the reference of Kubernetes 1.30.
 */
const Name = z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
const Labels = z.record(z.string().regex(/^([a-z0-9.-]+\/)?[\w.-]+$/), z.string());
const Selector = z.strictObject({ matchLabels: Labels });
const Quantity = z.string().regex(/^\d+(m|Ki|Mi|Gi)?$/);
const Port = z.union([z.int().min(1).max(65_535), Name]);
const metadata = {
  name: Name,
  labels: Labels.optional(),
  annotations: z.record(z.string(), z.string()).optional(),
};

const Probe = z.strictObject({
  httpGet: z.strictObject({ path: z.string().startsWith('/'), port: Port }),
  periodSeconds: z.int().min(1).optional(),
  timeoutSeconds: z.int().min(1).optional(),
  failureThreshold: z.int().min(1).optional(),
});

const Container = z.strictObject({
  name: Name,
  image: z.string(),
  args: z.array(z.string()),
  envFrom: z.array(z.strictObject({ configMapRef: z.strictObject({ name: Name }) })),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })),
  ports: z.array(z.strictObject({ name: Name.max(15), containerPort: z.int() })),
  startupProbe: Probe,
  livenessProbe: Probe,
  readinessProbe: Probe,
  lifecycle: z
    .strictObject({ preStop: z.strictObject({ sleep: z.strictObject({ seconds: z.int().min(1) }) }) })
    .optional(),
  resources: z.strictObject({
    requests: z.strictObject({ cpu: Quantity, memory: Quantity }),
    limits: z.strictObject({ memory: Quantity }),
  }),
  securityContext: z.strictObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.strictObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(
    z.strictObject({ name: Name, mountPath: z.string().startsWith('/'), readOnly: z.boolean().optional() }),
  ),
});

const Volume = z.union([
  z.strictObject({
    name: Name,
    secret: z.strictObject({ secretName: Name, defaultMode: z.int().max(0o777) }),
  }),
  z.strictObject({ name: Name, configMap: z.strictObject({ name: Name }) }),
  z.strictObject({ name: Name, emptyDir: z.strictObject({ sizeLimit: Quantity }) }),
]);

const Deployment = z.strictObject({
  apiVersion: z.literal('apps/v1'),
  kind: z.literal('Deployment'),
  metadata: z.strictObject(metadata),
  spec: z.strictObject({
    replicas: z.int().min(1),
    selector: Selector,
    strategy: z.strictObject({
      type: z.literal('RollingUpdate'),
      rollingUpdate: z.strictObject({ maxSurge: z.int(), maxUnavailable: z.int() }),
    }),
    template: z.strictObject({
      metadata: z.strictObject({ labels: Labels }),
      spec: z.strictObject({
        automountServiceAccountToken: z.literal(false),
        enableServiceLinks: z.boolean(),
        terminationGracePeriodSeconds: z.int(),
        securityContext: z.strictObject({
          runAsNonRoot: z.literal(true),
          runAsUser: z.int().min(1),
          runAsGroup: z.int().min(1),
          fsGroup: z.int().min(1),
          seccompProfile: z.strictObject({ type: z.literal('RuntimeDefault') }),
        }),
        topologySpreadConstraints: z.array(
          z.strictObject({
            maxSkew: z.int().min(1),
            topologyKey: z.string(),
            whenUnsatisfiable: z.enum(['ScheduleAnyway', 'DoNotSchedule']),
            labelSelector: Selector,
          }),
        ),
        containers: z.array(Container).length(1),
        volumes: z.array(Volume),
      }),
    }),
  }),
});

const Peer = z.strictObject({ namespaceSelector: Selector });
const PolicyPort = z.strictObject({ protocol: z.enum(['TCP', 'UDP']), port: Port });

const Other = z.discriminatedUnion('kind', [
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Namespace'),
    metadata: z.strictObject(metadata),
  }),
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('ConfigMap'),
    metadata: z.strictObject(metadata),
    data: z.record(z.string().regex(/^[-._a-zA-Z0-9]+$/), z.string()),
  }),
  z.strictObject({
    apiVersion: z.literal('v1'),
    kind: z.literal('Service'),
    metadata: z.strictObject(metadata),
    spec: z.strictObject({
      selector: Labels,
      ports: z.array(z.strictObject({ name: Name, port: z.int(), targetPort: Port })),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('policy/v1'),
    kind: z.literal('PodDisruptionBudget'),
    metadata: z.strictObject(metadata),
    spec: z.strictObject({ minAvailable: z.int(), selector: Selector }),
  }),
  z.strictObject({
    apiVersion: z.literal('networking.k8s.io/v1'),
    kind: z.literal('NetworkPolicy'),
    metadata: z.strictObject(metadata),
    spec: z.strictObject({
      podSelector: Selector,
      policyTypes: z.tuple([z.literal('Ingress'), z.literal('Egress')]),
      ingress: z.array(z.strictObject({ from: z.array(Peer).min(1), ports: z.array(PolicyPort).min(1) })),
      egress: z.array(z.strictObject({ to: z.array(Peer).optional(), ports: z.array(PolicyPort).min(1) })),
    }),
  }),
  z.strictObject({
    apiVersion: z.literal('networking.k8s.io/v1'),
    kind: z.literal('Ingress'),
    metadata: z.strictObject(metadata),
    spec: z.strictObject({
      ingressClassName: z.string(),
      tls: z.array(z.strictObject({ hosts: z.array(z.string()), secretName: Name })),
      rules: z.array(
        z.strictObject({
          host: z.string(),
          http: z.strictObject({
            paths: z.array(
              z.strictObject({
                path: z.string().startsWith('/'),
                pathType: z.literal('Prefix'),
                backend: z.strictObject({
                  service: z.strictObject({ name: Name, port: z.strictObject({ name: Name }) }),
                }),
              }),
            ),
          }),
        }),
      ),
    }),
  }),
]);

/** Files that kustomize applies, in order, and images that it replaces. */
export const Kustomization = z.strictObject({
  apiVersion: z.literal('kustomize.config.k8s.io/v1beta1'),
  kind: z.literal('Kustomization'),
  namespace: Name,
  resources: z.array(z.string()),
  images: z.array(z.strictObject({ name: z.string(), newName: z.string(), newTag: z.string() })),
});

export type DeploymentManifest = z.infer<typeof Deployment>;
type Manifest = DeploymentManifest | z.infer<typeof Other>;

/**
 * Reads the manifests of a folder, except its kustomization. Throws if a manifest has an unknown or malformed field.
 */
export function readManifests(
  folder: string,
): readonly { readonly file: string; readonly manifest: Manifest }[] {
  const files = readdirSync(folder).filter((name) => name !== 'kustomization.yaml');
  return files.flatMap((file) =>
    parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      const value: unknown = document.toJS();
      const isDeployment =
        typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'Deployment';
      return { file, manifest: (isDeployment ? Deployment : Other).parse(value) };
    }),
  );
}
