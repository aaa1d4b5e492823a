# Reeve with the embedded forge, from the same build as the npm package.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No install scripts run, and none is needed.
RUN npm ci --ignore-scripts
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build-package.ts

FROM node:24-bookworm-slim
# git is for the embedded forge; tini is not needed, the process handles its signals itself.
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
# Inside a container the port is reached from outside it: what is published decides who may come.
ENV NODE_ENV=production REEVE_DATA=/data HOST=0.0.0.0 PORT=8080
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "bin/reeve.mjs", "serve"]
