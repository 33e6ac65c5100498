# The command in an image, built from source. From a checkout:
#
#     docker build -t dragline .
#     docker run --rm -v dragline:/data dragline crawl https://example.org/
#
# To keep the data in a directory of yours, be its owner: `--user "$(id -u):$(id -g)" -v "$PWD:/data"`.
# `--build-arg FEATURES=stack` adds the commands for a stack on AWS.

FROM rust:1.95.0-bookworm AS build
WORKDIR /source
COPY . .
ARG FEATURES=""
# What was compiled before is taken from the cache of the builder.
RUN --mount=type=cache,target=/usr/local/cargo/registry --mount=type=cache,target=/source/target \
    cargo build --locked --profile dist --package dragline --bin dragline --features "$FEATURES" \
    && install -s target/dist/dragline /usr/local/bin/dragline

# The same Debian as the builder's, for the sake of glibc.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --home-dir /data --create-home dragline
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/dragline/
COPY --from=build /usr/local/bin/dragline /usr/bin/dragline
# A number, so that an orchestrator can see that it is not root.
USER 10001
WORKDIR /data
ENTRYPOINT ["dragline"]
