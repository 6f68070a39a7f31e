/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "peers.h"

#include <algorithm>
#include <cstdio>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cuda_runtime.h>
#include <vector>

#ifdef HAVE_NPP
#include <npp.h>
#endif

/* On parts of the second cache of their own. */
struct Total {
  unsigned long long sum;
  unsigned int ticket;
  unsigned int unused[61];
};

#define TOTALS 512

struct BenchPeers {
  Total *totals;
  unsigned long long *read;
  void *scratch; /* of the library that is being timed */
  size_t scratch_size;
  void *keys; /* sorted samples, unique ones, run lengths */
  size_t keys_size;
  int processors;
#ifdef HAVE_NPP
  NppStreamContext npp;
#endif
};

/* The sum is complete, in one place, when the launch is over. Either the last
 * block moves it to the result and leaves zeroes, so that a launch stands for
 * itself; or, with no result, it stays, and the place of the next launch is
 * zeroed meanwhile. */
template <int Threads, int Quads>
__global__ void
__launch_bounds__(Threads)
    read_all(const uint4 *quads, uint32_t n, Total *total, Total *next,
             unsigned long long *result)
{
  __shared__ uint32_t sums[Threads / 32];
  uint32_t step = gridDim.x * Threads * Quads, sum = 0;

  for (uint32_t tile = blockIdx.x * Threads * Quads; tile < n; tile += step) {
    uint4 v[Quads];

#pragma unroll
    for (int i = 0; i < Quads; i++) {
      uint32_t at = tile + i * Threads + threadIdx.x;

      v[i] = at < n ? __ldcs(quads + at) : make_uint4(0, 0, 0, 0);
    }
#pragma unroll
    for (int i = 0; i < Quads; i++) {
      sum = __dp4a(v[i].x, 0x01010101u, sum);
      sum = __dp4a(v[i].y, 0x01010101u, sum);
      sum = __dp4a(v[i].z, 0x01010101u, sum);
      sum = __dp4a(v[i].w, 0x01010101u, sum);
    }
  }
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0)
    sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x > 0)
    return;
  unsigned long long block = 0;
  for (int i = 0; i < Threads / 32; i++)
    block += sums[i];
  atomicAdd(&total->sum, block);
  if (!result) {
    if (blockIdx.x == 0)
      next->sum = 0;
    return;
  }
  __threadfence();
  if (atomicAdd(&total->ticket, 1u) == gridDim.x - 1) {
    __threadfence();
    *result = __ldcg(&total->sum);
    total->sum = 0;
    total->ticket = 0;
  }
}

__global__ void
do_nothing()
{
}

template <int Threads, int Quads>
static void
launch_read(BenchPeers *peers, cudaStream_t stream, int blocks, unsigned call,
            bool hand_over, const void *samples, size_t size)
{
  uint32_t n = (uint32_t)(size / 16);
  uint32_t useful = (n + Threads - 1) / Threads;

  read_all<Threads, Quads>
      <<<std::min<uint32_t>(useful, blocks * peers->processors), Threads, 0,
         stream>>>(static_cast<const uint4 *>(samples), n,
                   peers->totals + call % TOTALS,
                   peers->totals + (call + 1) % TOTALS,
                   hand_over ? peers->read : nullptr);
}

void
bench_read(BenchPeers *peers, CUstream stream, unsigned shape, unsigned call,
           int hand_over, CUdeviceptr samples, size_t size)
{
  const void *from = reinterpret_cast<const void *>(samples);

  switch (shape) {
  case 0:
    return launch_read<512, 4>(peers, stream, 4, call, hand_over, from, size);
  case 1:
    return launch_read<1024, 2>(peers, stream, 2, call, hand_over, from, size);
  case 2:
    return launch_read<256, 4>(peers, stream, 8, call, hand_over, from, size);
  case 3:
    return launch_read<1024, 2>(peers, stream, 1, call, hand_over, from, size);
  default:
    return launch_read<512, 2>(peers, stream, 1, call, hand_over, from, size);
  }
}

void
bench_empty(CUstream stream)
{
  do_nothing<<<1, 32, 0, stream>>>();
}

/* CUB and NPP say how much memory they want; it is kept between calls. */
static void *
scratch(BenchPeers *peers, size_t size)
{
  if (size > peers->scratch_size) {
    cudaFree(peers->scratch);
    peers->scratch_size = cudaMalloc(&peers->scratch, size) ? 0 : size;
  }
  return peers->scratch;
}

template <typename Sample>
static int
cub_histogram(BenchPeers *peers, cudaStream_t stream, const Sample *samples,
              int n, int levels, int bins, int *counts)
{
  size_t size = 0;

  if (cub::DeviceHistogram::HistogramEven(nullptr, size, samples, counts,
                                          bins + 1, 0, levels, n, stream))
    return 0;
  return cub::DeviceHistogram::HistogramEven(scratch(peers, size), size,
                                             samples, counts, bins + 1, 0,
                                             levels, n, stream) == cudaSuccess;
}

int
bench_cub(BenchPeers *peers, CUstream stream, CUdeviceptr samples, size_t n,
          size_t sample_size, uint32_t levels, uint32_t bins,
          CUdeviceptr counts)
{
  int *to = reinterpret_cast<int *>(counts);

  if (sample_size == 1)
    return cub_histogram(peers, stream,
                         reinterpret_cast<const uint8_t *>(samples), (int)n,
                         (int)levels, (int)bins, to);
  if (sample_size == 2)
    return cub_histogram(peers, stream,
                         reinterpret_cast<const uint16_t *>(samples), (int)n,
                         (int)levels, (int)bins, to);
  return cub_histogram(peers, stream,
                       reinterpret_cast<const uint32_t *>(samples), (int)n,
                       (int)levels, (int)bins, to);
}

int
bench_cub_sort(BenchPeers *peers, CUstream stream, CUdeviceptr samples,
               size_t n)
{
  const uint8_t *from = reinterpret_cast<const uint8_t *>(samples);
  size_t wanted = n + 4096, sort = 0, runs = 0;

  if (wanted > peers->keys_size) {
    cudaFree(peers->keys);
    peers->keys_size = cudaMalloc(&peers->keys, wanted) ? 0 : wanted;
  }
  uint8_t *sorted = static_cast<uint8_t *>(peers->keys);
  uint8_t *unique = sorted + n;
  int *lengths = reinterpret_cast<int *>(sorted + (n + 512) / 16 * 16);
  int *n_runs = lengths + 300;

  if (cub::DeviceRadixSort::SortKeys(nullptr, sort, from, sorted, (int)n, 0, 8,
                                     stream) ||
      cub::DeviceRunLengthEncode::Encode(nullptr, runs, sorted, unique, lengths,
                                         n_runs, (int)n, stream))
    return 0;
  void *memory = scratch(peers, std::max(sort, runs));
  return !cub::DeviceRadixSort::SortKeys(memory, sort, from, sorted, (int)n, 0,
                                         8, stream) &&
         !cub::DeviceRunLengthEncode::Encode(memory, runs, sorted, unique,
                                             lengths, n_runs, (int)n, stream);
}

#ifdef HAVE_NPP
static void
open_npp(BenchPeers *peers)
{
  NppStreamContext *context = &peers->npp;
  cudaDeviceProp device;

  cudaGetDeviceProperties(&device, 0);
  context->nMultiProcessorCount = device.multiProcessorCount;
  context->nMaxThreadsPerMultiProcessor = device.maxThreadsPerMultiProcessor;
  context->nMaxThreadsPerBlock = device.maxThreadsPerBlock;
  context->nSharedMemPerBlock = device.sharedMemPerBlock;
  context->nCudaDevAttrComputeCapabilityMajor = device.major;
  context->nCudaDevAttrComputeCapabilityMinor = device.minor;
  context->nStreamFlags = cudaStreamNonBlocking;
}

int
bench_npp(BenchPeers *peers, CUstream stream, CUdeviceptr samples,
          uint32_t width, uint32_t height, CUdeviceptr counts)
{
  NppiSize size = {(int)width, (int)height};
  size_t bytes = 0;

  peers->npp.hStream = stream;
  if (nppiHistogramEvenGetBufferSize_8u_C1R_Ctx(size, 257, &bytes, peers->npp))
    return 0;
  return nppiHistogramEven_8u_C1R_Ctx(
             reinterpret_cast<const Npp8u *>(samples), (int)width, size,
             reinterpret_cast<Npp32s *>(counts), 257, 0, 256,
             static_cast<Npp8u *>(scratch(peers, bytes)), peers->npp) == 0;
}
#else
static void
open_npp(BenchPeers *)
{
}

int
bench_npp(BenchPeers *, CUstream, CUdeviceptr, uint32_t, uint32_t, CUdeviceptr)
{
  return 0;
}
#endif

BenchPeers *
bench_peers_open(void)
{
  BenchPeers *peers = new BenchPeers();
  cudaError_t error = cudaFree(nullptr);

  if (!error)
    error = cudaMalloc(&peers->totals, TOTALS * sizeof(Total));
  if (!error)
    error = cudaMemset(peers->totals, 0, TOTALS * sizeof(Total));
  if (!error)
    error = cudaMalloc(&peers->read, sizeof(*peers->read));
  if (!error)
    error = cudaDeviceGetAttribute(&peers->processors,
                                   cudaDevAttrMultiProcessorCount, 0);
  if (!error) {
    open_npp(peers);
    return peers;
  }
  fprintf(stderr, "CUDA cannot be used: %s\n", cudaGetErrorString(error));
  delete peers;
  return nullptr;
}

void
bench_peers_close(BenchPeers *peers)
{
  cudaFree(peers->keys);
  cudaFree(peers->scratch);
  cudaFree(peers->read);
  cudaFree(peers->totals);
  delete peers;
}

void *
bench_host_alloc(size_t size)
{
  void *memory = nullptr;

  return cudaMallocHost(&memory, size) ? nullptr : memory;
}

CUdeviceptr
bench_device_alloc(size_t size)
{
  void *memory = nullptr;

  return cudaMalloc(&memory, size) ? 0 : reinterpret_cast<CUdeviceptr>(memory);
}

void
bench_host_free(void *memory)
{
  cudaFreeHost(memory);
}

void
bench_device_free(CUdeviceptr memory)
{
  cudaFree(reinterpret_cast<void *>(memory));
}

int
bench_copy(CUdeviceptr to, const void *from, size_t size)
{
  return cudaMemcpy(reinterpret_cast<void *>(to), from, size,
                    cudaMemcpyHostToDevice) == cudaSuccess;
}

int
bench_copy_back(void *to, CUdeviceptr from, size_t size)
{
  return cudaMemcpy(to, reinterpret_cast<void *>(from), size,
                    cudaMemcpyDeviceToHost) == cudaSuccess;
}

void
bench_copy_async(CUdeviceptr to, const void *from, size_t size, CUstream stream)
{
  cudaMemcpyAsync(reinterpret_cast<void *>(to), from, size,
                  cudaMemcpyHostToDevice, stream);
}

void
bench_copy_device(CUdeviceptr to, CUdeviceptr from, size_t size,
                  CUstream stream)
{
  cudaMemcpyAsync(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
                  size, cudaMemcpyDeviceToDevice, stream);
}

void
bench_zero(CUdeviceptr memory, size_t size)
{
  cudaMemset(reinterpret_cast<void *>(memory), 0, size);
}

CUstream
bench_stream(void)
{
  cudaStream_t stream = nullptr;

  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  return stream;
}

int
bench_wait(CUstream stream)
{
  return cudaStreamSynchronize(stream) == cudaSuccess;
}

/* Device microseconds that work() takes, in the events' resolution. */
class Timer
{
public:
  explicit Timer(cudaStream_t stream) : stream(stream)
  {
    cudaEventCreate(&start);
    cudaEventCreate(&end);
  }
  ~Timer()
  {
    cudaEventDestroy(end);
    cudaEventDestroy(start);
  }
  template <typename Work>
  double
  time(Work work)
  {
    float milliseconds = 0;

    cudaEventRecord(start, stream);
    work();
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&milliseconds, start, end);
    return milliseconds * 1000.0;
  }
  /* The median of `repeats` after a warm-up, and the spread. */
  template <typename Work>
  BenchTime
  repeat(unsigned repeats, unsigned calls, Work work)
  {
    const unsigned warm_up = 3;
    std::vector<double> times;

    for (unsigned i = 0; i < warm_up + repeats; i++) {
      double us = time(work) / calls;

      if (i >= warm_up)
        times.push_back(us);
    }
    std::sort(times.begin(), times.end());
    return {times[repeats / 2], times[repeats / 10],
            times[repeats - 1 - repeats / 10], -1};
  }

private:
  cudaStream_t stream;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
};

static cudaGraphExec_t
record(CUstream stream, unsigned calls, int (*work)(void *, unsigned),
       void *data)
{
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  int good = 1;

  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed))
    return nullptr;
  for (unsigned i = 0; i < calls; i++)
    good &= work(data, i);
  if (cudaStreamEndCapture(stream, &graph) || !good ||
      cudaGraphInstantiate(&ready, graph, 0))
    ready = nullptr;
  if (graph)
    cudaGraphDestroy(graph);
  return ready;
}

BenchTime
bench_time(CUstream stream, unsigned calls, unsigned repeats,
           int (*work)(void *data, unsigned i), void *data)
{
  const double slow = 500;
  Timer timer(stream);
  cudaGraphExec_t graph;
  BenchTime time;

  /* Once for what a library allocates at first, and once to see how long. */
  if (!work(data, 0) || cudaStreamSynchronize(stream))
    return {-1, -1, -1, -1};
  if (timer.time([&] { work(data, 0); }) > slow)
    calls = std::min(calls, 2u);
  graph = record(stream, calls, work, data);
  if (!graph) {
    cudaGetLastError();
    return {-1, -1, -1, -1};
  }
  time = timer.repeat(repeats, calls, [&] { cudaGraphLaunch(graph, stream); });
  cudaGraphExecDestroy(graph);

  unsigned launches = std::min(calls, 50u);

  time.launched = timer
                      .repeat(repeats, launches,
                              [&] {
                                for (unsigned i = 0; i < launches; i++)
                                  work(data, i);
                              })
                      .median;
  return time;
}
