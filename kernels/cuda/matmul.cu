/* matmul.cu: which kernels the products of a call need; runs on the host alone. */
#include "matmul.cuh"

typedef cudaError_t launcher(matmul_plan &plan);

/* A weight type and its kernels. */
struct weight_type {
    uint32_t type;
    launcher *launch;
};

#define WEIGHT_TYPE(type)                                                                          \
    {                                                                                              \
        type, launch_matmul<type>                                                                  \
    }

static const weight_type weight_types[] = {
    WEIGHT_TYPE(DTYPE_F32),    WEIGHT_TYPE(DTYPE_F16),     WEIGHT_TYPE(DTYPE_BF16),
    WEIGHT_TYPE(DTYPE_Q4_0),   WEIGHT_TYPE(DTYPE_Q4_1),    WEIGHT_TYPE(DTYPE_Q5_0),
    WEIGHT_TYPE(DTYPE_Q5_1),   WEIGHT_TYPE(DTYPE_Q8_0),    WEIGHT_TYPE(DTYPE_IQ4_NL),
    WEIGHT_TYPE(DTYPE_Q2_K),   WEIGHT_TYPE(DTYPE_Q3_K),    WEIGHT_TYPE(DTYPE_Q4_K),
    WEIGHT_TYPE(DTYPE_Q5_K),   WEIGHT_TYPE(DTYPE_Q6_K),    WEIGHT_TYPE(DTYPE_IQ4_XS),
    WEIGHT_TYPE(DTYPE_IQ3_S),  WEIGHT_TYPE(DTYPE_IQ3_XXS), WEIGHT_TYPE(DTYPE_IQ2_S),
    WEIGHT_TYPE(DTYPE_IQ2_XS), WEIGHT_TYPE(DTYPE_IQ2_XXS), WEIGHT_TYPE(DTYPE_TQ1_0),
    WEIGHT_TYPE(DTYPE_TQ2_0),  WEIGHT_TYPE(DTYPE_IQ1_S),   WEIGHT_TYPE(DTYPE_IQ1_M),
    WEIGHT_TYPE(DTYPE_MXFP4),
};

static const weight_type *find_type(uint32_t type)
{
    for (const weight_type &t : weight_types)
        if (t.type == type)
            return &t;
    return nullptr;
}

/* A grid has at most 65535 tiles of rows, of 32 rows at least. */
constexpr long long MOST_ROWS = 65535LL * 32;

/* NULL where they are missing. */
static const void *records_of(const cuda_activations &in, uint32_t type)
{
    cuda_activations copy = in;

    return *form_records(&copy, cuda_forms_of(1ULL << type));
}

static bool products_are_valid(const cuda_activations &in, const cuda_product *products, int count)
{
    long long rows = 0;

    if (count < 1 || count > CUDA_MAX_PRODUCTS || in.tokens < 0 || in.width < 1)
        return false;
    for (int p = 0; p < count; p++) {
        const cuda_product &product = products[p];
        const weight_type *type = find_type(product.type);

        if (!type || !records_of(in, product.type) || (uintptr_t)product.weights % 16 != 0)
            return false;
        if ((uint32_t)in.width % dtype_info(product.type)->block_weights != 0)
            return false;
        if (product.rows < 1 || product.out_step < (size_t)product.rows)
            return false;
        rows += product.rows + 32;
    }
    return rows <= MOST_ROWS;
}

static matmul_part part_of(const cuda_product &product)
{
    matmul_part part = {};

    part.weights = static_cast<const unsigned char *>(product.weights);
    part.bias = product.bias;
    part.out = product.out;
    part.out_step = product.out_step;
    part.rows = product.rows;
    part.accumulate = product.accumulate;
    return part;
}

/* Half as many again as the average, so that most experts need one tile. */
static int typical_visits(const cuda_visits &visits, int tokens)
{
    const int more = (int)(3LL * tokens / (2LL * visits.experts)) + 1;

    return visits.most < more ? visits.most : more;
}

/* Launches the products of the type of the first of them; visits: NULL without experts. */
static cudaError_t launch_type(const cuda_activations &in, const cuda_visits *visits,
                               const cuda_product *products, int count, cudaStream_t stream)
{
    const weight_type *type = find_type(products[0].type);
    matmul_plan plan = {};

    plan.stream = stream;
    plan.typical = visits ? typical_visits(*visits, in.tokens) : in.tokens;
    plan.job.records = records_of(in, type->type);
    plan.job.tokens = in.tokens;
    plan.job.width = in.width;
    plan.job.row_bytes = (size_t)dtype_row_bytes(type->type, (uint64_t)in.width);
    if (visits) {
        plan.job.first = visits->first;
        plan.job.experts = visits->experts;
    }
    for (int p = 0; p < count; p++)
        if (products[p].type == type->type)
            plan.job.parts[plan.job.count++] = part_of(products[p]);
    return type->launch(plan);
}

/* A launch for each type, in the order in which types first appear. */
static int launch_products(const cuda_activations &in, const cuda_visits *visits,
                           const cuda_product *products, int count, cudaStream_t stream)
{
    if (!products_are_valid(in, products, count))
        return cudaErrorInvalidValue;
    if (in.tokens == 0)
        return cudaSuccess;
    for (int p = 0; p < count; p++) {
        bool launched = false;

        for (int earlier = 0; earlier < p; earlier++)
            launched = launched || products[earlier].type == products[p].type;
        if (launched)
            continue;
        const cudaError_t error = launch_type(in, visits, products + p, count - p, stream);
        if (error != cudaSuccess)
            return error;
    }
    return cudaSuccess;
}

int cuda_matmul(const struct cuda_activations *in, const struct cuda_product *products, int count,
                struct CUstream_st *stream)
{
    return launch_products(*in, nullptr, products, count, stream);
}

int cuda_matmul_visits(const struct cuda_activations *in, const struct cuda_visits *visits,
                       const struct cuda_product *products, int count, struct CUstream_st *stream)
{
    if (visits->experts < 1 || visits->most < 0 || visits->most > in->tokens)
        return cudaErrorInvalidValue;
    for (int p = 0; p < count && p < CUDA_MAX_PRODUCTS; p++)
        if (products[p].bias)
            return cudaErrorInvalidValue;
    return launch_products(*in, visits, products, count, stream);
}
