# stepscope for CI: record a training and fail the job if it got slower.
#   docker build -t stepscope .
#   docker run --rm -v "$PWD:/work" stepscope run -o after train.py
#   docker run --rm -v "$PWD:/work" stepscope compare before after --fail-over 5%
# What the training itself needs goes into an image of your own: FROM stepscope, RUN pip install ...
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /src

FROM python:${PYTHON}-slim-bookworm
COPY --from=build /wheels /wheels
# pip hides why a build went on without the report's page (npm behind a proxy, say): it ends here.
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels && stepscope doctor \
    && python -c 'from stepscope.show.report.bundle import bundle; bundle()'
# Runs belong to whoever started the container (docker run --user): nothing is written elsewhere.
ENV XDG_CACHE_HOME=/tmp/.cache
WORKDIR /work
ENTRYPOINT ["stepscope"]
CMD ["--help"]
