# Reeve with the embedded forge, from the same build as the npm package.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Install scripts are not needed and do not run.
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build-package.ts

FROM node:24-bookworm-slim
# The embedded forge requires git. An init process such as tini is not needed: Reeve handles signals itself.
RUN apt-get update \
 && apt-get install -y --no-install-recommends git ca-certificates \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json ./
COPY bin ./bin
COPY rules ./rules
COPY --from=build /app/dist/package ./dist/package
RUN install -d -o node -g node -m 700 /data
USER node
# Reeve listens on all interfaces of the container; the published ports decide which clients can connect.
ENV NODE_ENV=production REEVE_DATA=/data HOST=0.0.0.0 PORT=8080
VOLUME /data
# 3000 is the forge of the demo, which starts where no FORGE_URL is set.
EXPOSE 8080 3000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/reeve.mjs", "serve"]
