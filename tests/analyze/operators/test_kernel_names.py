"""What the names of kernels say: matrix work and its precision, and communication."""

import pytest

from stepscope.analyze.operators.kernel_names import matrix_precision
from stepscope.importers.runtime_names import is_collective

MATRIX = {
    "volta_sgemm_128x64_nn": "32 bits",
    "ampere_sgemm_32x128_tn": "32 bits",
    "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(Params)": "32 bits",
    "volta_scudnn_128x64_relu_interior_nn_v1": "32 bits",
    "volta_scudnn_winograd_128x128_ldg1_ldg4_relu_tile148t_nt_v1": "32 bits",
    "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int)": "32 bits",
    "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1>(int)": "32 bits",
    "Cijk_Ailk_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN": "32 bits",
    "miopenSp3AsmConv_v21_1_2_gfx9_fp32_stride1": "32 bits",
    "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_16x6_tn_align4>(P)": "TF32",
    "void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128>": "TF32",
    "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize128x128x16": "TF32",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32": "TF32",
    "Cijk_Alik_Bljk_S_MX_B_Bias_HA_S_SAV_UserArgs_MT64x64x32": "TF32",
    "volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_nn": "16 bits",
    "volta_h884gemm_128x64": "16 bits",
    "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn": "16 bits",
    "void cutlass::Kernel2<cutlass_75_tensorop_bf16_s1688gemm_bf16_128x128_nn_align1>": "16 bits",
    "ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_nn": "16 bits",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64": "16 bits",
    "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT": "16 bits",
    "nvjet_tst_128x256_64x4_2x1_v_bz_coopB_TNT": "16 bits",
    "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT128x256x32": "16 bits",
    "Cijk_Ailk_Bjlk_HHS_BH_MT64x64x64": "16 bits",
    "igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt128x128x32": "16 bits",
    "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>": "16 bits",
    "void cutlass::device_kernel<GemmUniversal<cutlass::float_e4m3_t, cute::Copy_Atom>>": "8 bits",
    "volta_dgemm_64x64_nn": "64 bits",
    "attn_fwd": "unknown",
}


@pytest.mark.parametrize(("name", "precision"), MATRIX.items())
def test_matrix_work_has_the_precision_that_its_name_says(name: str, precision: str) -> None:
    assert matrix_precision(name) == precision


@pytest.mark.parametrize(
    "name",
    [
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float)",
        "void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>(cudnnTensorStruct)",
        "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(params)",
        "void cudnn::ops::scalePackedTensor_kernel<float, float>(cudnnTensor4dStruct)",
        "void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>(params)",
        "cask_cudnn::computeWgradSplitKOffsetsKernel(cask_cudnn::ComputeSplitKOffsetsParams)",
        "void fbgemm_gpu::permute_2D_data_kernel<false, int, int, decltype(nullptr)>(int)",
        "void split_embedding_codegen_forward_kernel<float>(fbgemm_gpu::Accessor<float>)",
        "void permute_pooled_embs_kernel<float>(float const*)",
        "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1>(f)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::conv_thing<float>>(int)",
        "void Eigen::internal::EigenMetaKernel<Eigen::TensorConversionOp<float, Eigen::half>>",
        "triton_per_fused__native_batch_norm_legit_functional_convolution_5",
        "triton_poi_fused_convolution_relu_2",
        "batched_transpose_32x32_dword",
        "MIOpenBatchNormFwdTrainSpatial",
        "void gemv2T_kernel_val<int, int, float, float, float, float>(params)",
        "broadcast_add_fusion",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    ],
)
def test_norms_permutations_and_copies_are_no_matrix_work(name: str) -> None:
    assert matrix_precision(name) is None


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", True),
        ("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", True),
        ("all-reduce.3", True),
        ("%all-gather-start", True),
        ("collective-permute", True),
        ("ragged-all-to-all", True),
        ("void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(RankData*)", True),
        ("void two_shot_all_reduce_kernel_inplace<c10::BFloat16, 16, 8>(c10::BFloat16**)", True),
        ("void deep_ep::internode_ll::dispatch<true, 3, 7168>(void*, float*)", True),
        ("void deep_ep::internode::combine<4, __nv_bfloat16, 1>(int4*, float*)", True),
        ("void deep_ep::intranode::notify_dispatch<8>(int const*, int*)", True),
        ("void deep_ep::intranode::cached_notify_combine<8>(void**)", True),
        ("void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(EpDispatchCombineArgs)", True),
        ("void deep_ep::layout::get_dispatch_layout<256, 32, 8>(long const*)", False),
        ("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(ReduceOp)", False),
        ("void small_gather_kernel<float>(float*)", False),
        ("void at::native::(anonymous namespace)::vectorized_gather_kernel<16>(char*)", False),
        ("volta_sgemm_128x64_nn", False),
    ],
)  # fmt: skip
def test_kernels_that_talk_to_other_devices_are_communication(name: str, is_one: bool) -> None:
    assert is_collective(name) is is_one
