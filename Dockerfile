# Deckhand in a container: one image for the gateway and the worker. Not run in CI.
FROM node:24-bookworm-slim

# What npm cannot bring; tini reaps the processes that commands leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bubblewrap git socat tini \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/deckhand
COPY package.json package-lock.json ./
COPY script/pin script/pin
RUN npm ci --omit=dev
COPY bin bin
COPY src src

# State that outlives the container; the user `node` (uid 1000) owns it and runs everything, never root.
RUN install -d -o node -g node -m 0711 /var/lib/deckhand
ENV DECKHAND_STATE=/var/lib/deckhand
USER node
ENTRYPOINT ["tini", "--", "bin/deckhand"]
CMD ["start"]
