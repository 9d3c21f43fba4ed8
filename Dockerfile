# Worker, gateway and the set-up of the database in one image; what a container does is told by its command:
#
#   node dist/prisma/setup-main.js     roles, database, migrations; ends
#   node dist/worker/main.js
#   node dist/gateway/main.js
FROM node:20.20.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# The workflows are bundled here, so that a worker starts without a bundler.
RUN npm run build && npm prune --omit=dev

FROM node:20.20.2-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/config ./config
# Numeric, so that a platform can see that it is not root. Secrets that are mounted must be readable for this id.
USER 1000:1000
EXPOSE 3000
CMD ["node", "dist/gateway/main.js"]
