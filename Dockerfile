# The gateway with all that it needs at run time: nothing is fetched by a container. `make image` builds it; docs/operations/deployment.md.
ARG BASE=debian:bookworm-slim

FROM ${BASE} AS build
ARG JDK=openjdk-17-jdk-headless
ENV DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
# Java's package makes links there, and fails in images that have no manuals.
RUN mkdir -p /usr/share/man/man1 && apt-get update \
 && apt-get install -y --no-install-recommends binutils ca-certificates "${JDK}" python3 python3-venv
# Only the modules that Spark and its libraries use; the archive of classes that are loaded at every start makes it quicker.
RUN jlink --output /opt/java --strip-debug --no-header-files --no-man-pages --add-modules \
java.se,jdk.attach,jdk.charsets,jdk.crypto.cryptoki,jdk.crypto.ec,jdk.httpserver,jdk.incubator.vector,jdk.jcmd,jdk.jfr,\
jdk.localedata,jdk.management,jdk.management.agent,jdk.naming.dns,jdk.net,jdk.nio.mapmode,jdk.security.auth,jdk.security.jgss,\
jdk.unsupported,jdk.xml.dom,jdk.zipfs \
 && cp --dereference "$(dirname "$(dirname "$(readlink -f "$(command -v jlink)")")")/lib/security/cacerts" /opt/java/lib/security/cacerts \
 && /opt/java/bin/java -Xshare:dump > /dev/null
WORKDIR /src
COPY requirements.lock ./
# The secrets are the builder's own certificates, for registries behind a proxy that has one of its own.
RUN --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
 && python3 -m venv /opt/sluice && /opt/sluice/bin/pip install --quiet --no-compile --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY api api
COPY service service
COPY spark_session spark_session
COPY migrations migrations
RUN /opt/sluice/bin/pip install --quiet --no-compile --no-deps --no-build-isolation --no-index .
RUN --mount=type=secret,id=keystore \
    if [ -s /run/secrets/keystore ]; then export JAVA_TOOL_OPTIONS=-Djavax.net.ssl.trustStore=/run/secrets/keystore; fi \
 && SLUICE_JARS_DIR=/opt/sluice/jars /opt/sluice/bin/sluice jars --all
COPY deploy/image/slim.py /build/
RUN python3 -B /build/slim.py /opt/sluice/lib/python3*/site-packages
COPY deploy/image/sbom.lock deploy/image/sbom.py /build/
RUN --mount=type=secret,id=ca --mount=type=cache,target=/root/.cache/pip \
    if [ -s /run/secrets/ca ]; then export PIP_CERT=/run/secrets/ca; fi \
 && python3 -m venv /opt/sbom && /opt/sbom/bin/pip install --quiet --require-hashes -r /build/sbom.lock \
 && /opt/sbom/bin/cyclonedx-py environment --output-reproducible /opt/sluice/bin/python > /build/python.cdx.json

FROM ${BASE}
ARG VERSION=0
LABEL org.opencontainers.image.title="Sluice" \
      org.opencontainers.image.description="A query gateway for lakehouses" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}"
RUN apt-get update \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends ca-certificates python3 tini tzdata \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log \
 # Hadoop and PostgreSQL ask for the name of the user that they run as.
 && echo "sluice:x:65532:65532:Sluice:/data:/usr/sbin/nologin" >> /etc/passwd \
 && echo "sluice:x:65532:" >> /etc/group \
 # A volume that is mounted here for the first time takes over who owns the folder.
 && install -d -o 65532 -g 65532 -m 0750 /data /data/warehouse
COPY --from=build /opt/java /opt/java
COPY --from=build /opt/sluice /opt/sluice
COPY deploy/image/healthcheck.py /opt/sluice/healthcheck.py
# What the image is made of, Debian's packages and jars included.
RUN --mount=type=bind,from=build,source=/build,target=/run/build \
    mkdir -p /usr/share/sluice && python3 -B /run/build/sbom.py /run/build/python.cdx.json /opt/sluice > /usr/share/sluice/sbom.cdx.json
ENV PATH=/opt/sluice/bin:/opt/java/bin:/usr/local/bin:/usr/bin:/bin \
    JAVA_HOME=/opt/java \
    HOME=/data \
    LANG=C.UTF-8 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    SLUICE_DATA_DIR=/data \
    SLUICE_HOST=0.0.0.0 \
    SLUICE_JARS_DIR=/opt/sluice/jars
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 CMD ["python3", "-I", "/opt/sluice/healthcheck.py"]
ENTRYPOINT ["tini", "--", "sluice"]
CMD ["serve"]
