// Sizes of lenses on a GPU, by ranks and bits. Compiled at run time by _cuda.py, which defines
//   RANK   the type of a rank: unsigned short or unsigned int
//   SUB    rows j of a block, as many as the shared memory holds: 16, 32 or 64
//   COUNTS whether the size of every lens is wanted, and not only their sums
//
// k lies in Lens(i, j) exactly when R_i[k] < R_i[j] and R_j[k] < R_j[i], R_i the ranks of row i.
// For a tile of rows I x J the ranks of row i are cut at those of the objects j, so that 8 bits
// tell between which cuts k falls. The bits are kept as planes, 32 columns to a word: a comparison
// with a cut is one majority of three words per bit, and a lens one population count per word.
// Column k is bit k / width of word k % width.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned char u8;

#define TILE 192    // rows of a tile; at most 255 cuts fit in 8 bits
#define ROWS 64     // rows i of a block: four for each of its 16 warps
#define SAMPLE 1024 // splitters of a row that is being ranked
#define ALL 0xffffffffu

__device__ u32 warp_sum(u32 x)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(ALL, x);
#else
    for (int d = 16; d; d >>= 1) x += __shfl_xor_sync(ALL, x, d);
    return x;
#endif
}

// Dissimilarities of some rows as keys that sort as they do. Each operation is rounded by itself
// and in the order of the coordinates, as on the CPU, so that the numbers are the same.
// points (d, n); metric 0 euclidean, 1 sqeuclidean, 2 cityblock, 3 chebyshev
extern "C" __global__ void __launch_bounds__(256)
point_keys(const double* points, int n, int d, int metric, int first, u64* keys)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int row = first + blockIdx.y;
    if (k >= n) return;
    double s = 0.0;
    for (int c = 0; c < d; ++c) {
        double x = fabs(__dsub_rn(points[(size_t)c * n + row], points[(size_t)c * n + k]));
        if (metric < 2) s = __dadd_rn(s, __dmul_rn(x, x));
        else if (metric == 2) s = __dadd_rn(s, x);
        else s = fmax(s, x);
    }
    if (metric == 0) s = __dsqrt_rn(s);
    keys[(size_t)blockIdx.y * n + k] = (u64)__double_as_longlong(s);
}

__device__ int bin_of(const u64* cuts, u64 key)
{
    int low = 0;
    for (int step = SAMPLE / 2; step; step >>= 1)
        if (cuts[low + step - 1] < key) low += step;
    if (low < SAMPLE && cuts[low] < key) ++low;
    return 2 * low + (low < SAMPLE && cuts[low] == key);
}

// ranks[row][k]: how many keys of the row are smaller. By splitters drawn from the row, then by
// comparing within a bin; what equals a splitter has a bin of its own, so that ties cost nothing.
extern "C" __global__ void __launch_bounds__(512)
rank_rows(const u64* keys, int rows, int n, RANK* ranks, int* tied, u64* binned, u32* who)
{
    __shared__ u64 cuts[SAMPLE];
    __shared__ u32 start[2 * SAMPLE + 2], fill[2 * SAMPLE + 1];
    int t = threadIdx.x;
    binned += (size_t)blockIdx.x * n;
    who += (size_t)blockIdx.x * n;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        const u64* x = keys + (size_t)row * n;
        RANK* out = ranks + (size_t)row * n;
        __syncthreads();
        for (int s = t; s < SAMPLE; s += blockDim.x)
            cuts[s] = n >= SAMPLE ? x[(u64)s * n / SAMPLE] : s < n ? x[s] : ~0ull;
        for (int b = t; b <= 2 * SAMPLE; b += blockDim.x) fill[b] = 0;
        __syncthreads();
        for (int size = 2; size <= SAMPLE; size <<= 1)
            for (int step = size >> 1; step; step >>= 1) {
                for (int s = t; s < SAMPLE / 2; s += blockDim.x) {
                    int a = 2 * s - (s & (step - 1)), b = a + step;
                    u64 p = cuts[a], q = cuts[b];
                    if ((p > q) == ((a & size) == 0)) { cuts[a] = q; cuts[b] = p; }
                }
                __syncthreads();
            }
        for (int k = t; k < n; k += blockDim.x) atomicAdd(&fill[bin_of(cuts, x[k])], 1u);
        __syncthreads();
        if (t < 32) {
            const int part = (2 * SAMPLE + 1 + 31) / 32;
            int from = t * part, to = min(from + part, 2 * SAMPLE + 1);
            u32 sum = 0;
            for (int b = from; b < to; ++b) sum += fill[b];
            u32 before = sum;
            for (int d = 1; d < 32; d <<= 1) {
                u32 left = __shfl_up_sync(ALL, before, d);
                if (t >= d) before += left;
            }
            before -= sum;
            for (int b = from; b < to; ++b) {
                start[b] = before;
                before += fill[b];
                fill[b] = 0;
            }
            if (t == 31) start[2 * SAMPLE + 1] = n;
        }
        __syncthreads();
        for (int k = t; k < n; k += blockDim.x) {
            int bin = bin_of(cuts, x[k]);
            u32 at = start[bin] + atomicAdd(&fill[bin], 1u);
            binned[at] = x[k];
            who[at] = k;
        }
        __syncthreads();
        int ties = 0;
        for (int p = t; p < n; p += blockDim.x) {
            u64 key = binned[p];
            int bin = bin_of(cuts, key);
            u32 from = start[bin], to = start[bin + 1], rank = from, same = to - from;
            if (!(bin & 1)) {
                same = 0;
                for (u32 q = from; q < to; ++q) {
                    u64 other = binned[q];
                    rank += other < key;
                    same += other == key;
                }
            }
            ties |= same > 1;
            out[who[p]] = (RANK)rank;
        }
        if (ties) tied[row] = 1;
    }
}

// Triples without a strictly longest side, for every object three times their number. In row r
// objects a, b of equal rank make such a triple, with apex r, unless d(a, b) is longer; a triple
// of three equal sides is met from each of its corners. a is taken from the rows of `feet`.
extern "C" __global__ void __launch_bounds__(512)
tied_triples(const RANK* apexes, int r0, int rows, const int* tied, const RANK* feet, int a0,
             int n_feet, int n, u32* size, u32* order, u64* legs, u64* tops)
{
    size += (size_t)blockIdx.x * n;
    order += (size_t)blockIdx.x * n;
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        if (!tied[row]) continue;
        const RANK* rank = apexes + (size_t)row * n;
        u32 r = r0 + row;
        u64 top = 0;
        __syncthreads();
        for (int a = threadIdx.x; a < n; a += blockDim.x) size[a] = 0;
        __syncthreads();
        for (int a = threadIdx.x; a < n; a += blockDim.x) {
            u32 g = rank[a];
            order[g + atomicAdd(&size[g], 1u)] = a;
        }
        __syncthreads();
        for (int p = threadIdx.x; p < n; p += blockDim.x) {
            u32 a = order[p];
            if (a == r || (int)a < a0 || (int)a >= a0 + n_feet) continue;
            u32 g = rank[a], end = g + size[g];
            const RANK* other = feet + (size_t)(a - a0) * n;
            RANK side = other[r];
            u64 mine = 0;
            for (u32 q = g; q < end; ++q) {
                u32 b = order[q];
                if (b == a || b == r) continue;
                RANK third = other[b];
                mine += third < side ? 3 : third == side;
            }
            if (mine) atomicAdd(&legs[a], mine);
            top += mine;
        }
        if (top) atomicAdd(&tops[r], top);
    }
}

__device__ u32 bucket_of(const uint2* marks, u32 rank)
{
    uint2 m = marks[rank >> 5];
    return m.y + __popc(m.x & (ALL >> (31 - (rank & 31))));
}

// Planes of the rows of one tile for each of several tiles, cut at the columns of another: the
// number of different cuts up to a rank, complemented, and the same number of every cut itself.
// k is below cut j exactly when its number is below that of j.
extern "C" __global__ void __launch_bounds__(256)
cut_rows(const RANK* ranks, int held, int n, int width, int row0, int row_step, int cut0,
         int cut_step, uint4* planes, u8* cuts)
{
    extern __shared__ uint2 marks[];
    __shared__ u32 sums[8];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int row = row0 + blockIdx.y * row_step + blockIdx.x;
    int cut = cut0 + blockIdx.y * cut_step;
    size_t place = (size_t)blockIdx.y * TILE + blockIdx.x;
    cuts += place * TILE;
    planes += place * 2 * width;
    if (row >= n) {
        for (int c = t; c < TILE; c += 256) cuts[c] = 0;
        return;
    }
    const RANK* rank = ranks + (size_t)(row - held) * n;
    int n_marks = (n + 31) / 32;
    for (int m = t; m < n_marks; m += 256) marks[m].x = 0;
    __syncthreads();
    for (int c = t; c < TILE; c += 256)
        if (cut + c < n) {
            u32 r = rank[cut + c];
            atomicOr(&marks[r >> 5].x, 1u << (r & 31));
        }
    __syncthreads();
    int part = (n_marks + 255) / 256, from = min(t * part, n_marks), to = min(from + part, n_marks);
    u32 sum = 0;
    for (int m = from; m < to; ++m) sum += __popc(marks[m].x);
    u32 before = sum;
    for (int d = 1; d < 32; d <<= 1) {
        u32 left = __shfl_up_sync(ALL, before, d);
        if (lane >= d) before += left;
    }
    if (lane == 31) sums[warp] = before;
    before -= sum;
    __syncthreads();
    for (int w = 0; w < warp; ++w) before += sums[w];
    for (int m = from; m < to; ++m) {
        marks[m].y = before;
        before += __popc(marks[m].x);
    }
    __syncthreads();
    for (int c = t; c < TILE; c += 256)
        cuts[c] = cut + c < n ? bucket_of(marks, rank[cut + c]) : 0;
    for (int w = t; w < width; w += 256) {
        u32 x[8];
        #pragma unroll
        for (int m = 0; m < 8; ++m) {
            u32 four = 0;
            #pragma unroll
            for (int c = 0; c < 4; ++c) {
                int k = (4 * m + c) * width + w;
                // what is no object is above every cut
                u32 bucket = k < n ? bucket_of(marks, rank[k]) : 255u;
                four |= bucket << (8 * c);
            }
            x[m] = ~four;
        }
        // eight by eight bits change places within each byte of the eight words
        #pragma unroll
        for (int s = 4; s; s >>= 1) {
            const u32 mask = s == 4 ? 0x0f0f0f0fu : s == 2 ? 0x33333333u : 0x55555555u;
            #pragma unroll
            for (int m = 0; m < 8; ++m)
                if (!(m & s)) {
                    u32 swap = ((x[m] >> s) ^ x[m + s]) & mask;
                    x[m + s] ^= swap;
                    x[m] ^= swap << s;
                }
        }
        planes[w] = make_uint4(x[0], x[1], x[2], x[3]);
        planes[width + w] = make_uint4(x[4], x[5], x[6], x[7]);
    }
}

// bit c of a number as a whole word, from the number spread over the high bits of the bytes
#define MASK(q, c) mask_##c(q)
#define DEFINE_MASK(c, selector) \
    __device__ __forceinline__ u32 mask_##c(u32 q) \
    { u32 m; asm("prmt.b32 %0, %1, 0, " #selector ";" : "=r"(m) : "r"(q)); return m; }
DEFINE_MASK(0, 0x8888)
DEFINE_MASK(1, 0x9999)
DEFINE_MASK(2, 0xaaaa)
DEFINE_MASK(3, 0xbbbb)

__device__ __forceinline__ u32 most(u32 a, u32 b, u32 c)
{
    return (a & b) | (c & (a | b));
}

// columns whose number, in complemented planes, is below the one that the masks spell
__device__ __forceinline__ u32 below(const uint4& low, const uint4& high, const u32* m)
{
    u32 less = low.x & m[0];
    less = most(low.y, less, m[1]);
    less = most(low.z, less, m[2]);
    less = most(low.w, less, m[3]);
    less = most(high.x, less, m[4]);
    less = most(high.y, less, m[5]);
    less = most(high.z, less, m[6]);
    return most(high.w, less, m[7]);
}

__device__ uint2 spread(u32 number)
{
    u32 low = number & 15, high = number >> 4;
    return make_uint2(((low * 0x00204081u) & 0x01010101u) << 7,
                      ((high * 0x00204081u) & 0x01010101u) << 7);
}

// Lenses of the pairs i < j of one tile I and one tile J, for each of several tiles I.
extern "C" __global__ void __launch_bounds__(512, 1)
meet_rows(const uint4* planes_i, const uint4* planes_j, const u8* cuts_i, const u8* cuts_j, int n,
          int width, int i0, int j0, u64* sums, int* counts)
{
    extern __shared__ uint4 shared[];
    uint4* held = shared;                 // SUB rows j, two halves, 64 words
    uint4* masks = held + SUB * 2 * 64;   // SUB x ROWS cuts of both sides
    u32* found = (u32*)(masks + SUB * ROWS);
#ifdef COUNTS
    u32* sizes = found + SUB;
#endif
    int t = threadIdx.x, lane = t & 31, warp = t >> 5;
    int si = blockIdx.x / (TILE / SUB) * ROWS, sj = blockIdx.x % (TILE / SUB) * SUB;
    size_t tile = (size_t)blockIdx.y * TILE;
    int gi = i0 + (int)tile + si, gj = j0 + sj;
    if (gi >= gj + SUB - 1 || gi >= n || gj >= n) return;
    for (int p = t; p < SUB * ROWS; p += 512) {
        int j = p / ROWS, i = p % ROWS;
        bool pair = gi + i < gj + j && gj + j < n;
        uint2 a = spread(pair ? cuts_i[(tile + si + i) * TILE + sj + j] : 0);
        uint2 b = spread(pair ? cuts_j[(tile + sj + j) * TILE + si + i] : 0);
        masks[p] = make_uint4(a.x, a.y, b.x, b.y);
#ifdef COUNTS
        sizes[p] = 0;
#endif
    }
    for (int j = t; j < SUB; j += 512) found[j] = 0;
    planes_i += (tile + si + 4 * warp) * 2 * width;
    planes_j += (tile + sj) * 2 * width;
    u32 mine[4] = {0, 0, 0, 0};
    for (int chunk = 0; chunk < width; chunk += 64) {
        __syncthreads();
        for (int p = t; p < SUB * 2 * 64; p += 512)
            held[p] = planes_j[(size_t)(p >> 6) * width + chunk + (p & 63)];
        uint4 a[4][2][2];
        #pragma unroll
        for (int r = 0; r < 4; ++r)
            #pragma unroll
            for (int h = 0; h < 2; ++h)
                #pragma unroll
                for (int w = 0; w < 2; ++w)
                    a[r][h][w] = planes_i[(size_t)(2 * r + h) * width + chunk + lane + 32 * w];
        __syncthreads();
        #pragma unroll 1
        for (int j = 0; j < SUB; ++j) {
            uint4 b[2][2];
            #pragma unroll
            for (int h = 0; h < 2; ++h)
                #pragma unroll
                for (int w = 0; w < 2; ++w) b[h][w] = held[(2 * j + h) * 64 + lane + 32 * w];
            u32 all = 0;
            #pragma unroll
            for (int r = 0; r < 4; ++r) {
                uint4 q = masks[j * ROWS + 4 * warp + r];
                u32 m[8] = {MASK(q.x, 0), MASK(q.x, 1), MASK(q.x, 2), MASK(q.x, 3),
                            MASK(q.y, 0), MASK(q.y, 1), MASK(q.y, 2), MASK(q.y, 3)};
                u32 l[8] = {MASK(q.z, 0), MASK(q.z, 1), MASK(q.z, 2), MASK(q.z, 3),
                            MASK(q.w, 0), MASK(q.w, 1), MASK(q.w, 2), MASK(q.w, 3)};
                u32 size = 0;
                #pragma unroll
                for (int w = 0; w < 2; ++w)
                    size += __popc(below(a[r][0][w], a[r][1][w], m) & below(b[0][w], b[1][w], l));
                mine[r] += size;
                all += size;
#ifdef COUNTS
                size = warp_sum(size);
                if (lane == 0) sizes[j * ROWS + 4 * warp + r] += size;
#endif
            }
            all = warp_sum(all);
            if (lane == 0) atomicAdd(&found[j], all);
        }
    }
    __syncthreads();
    for (int r = 0; r < 4; ++r) {
        u32 all = warp_sum(mine[r]);
        int i = gi + 4 * warp + r;
        if (lane == 0 && i < n) atomicAdd(&sums[i], (u64)all);
    }
    for (int j = t; j < SUB; j += 512)
        if (gj + j < n) atomicAdd(&sums[gj + j], (u64)found[j]);
#ifdef COUNTS
    for (int p = t; p < SUB * ROWS; p += 512) {
        int j = gj + p / ROWS, i = gi + p % ROWS;
        if (i < j && j < n) {
            counts[(size_t)i * n + j] = sizes[p];
            counts[(size_t)j * n + i] = sizes[p];
        }
    }
#endif
}
